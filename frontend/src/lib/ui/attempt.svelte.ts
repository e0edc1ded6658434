/** Something that a form does when its button is pressed: whether it is under way, and why it failed. */
import { AppError } from "../bridge/calls";

export class Attempt {
  busy = $state.raw(false);
  error = $state.raw<AppError | null>(null);

  /** Runs act and returns whether it worked; where it did not, error says why. */
  async run(act: () => Promise<unknown>): Promise<boolean> {
    this.busy = true;
    this.error = null;
    try {
      await act();
      return true;
    } catch (cause) {
      this.error = AppError.of(cause);
      return false;
    } finally {
      this.busy = false;
    }
  }
}
