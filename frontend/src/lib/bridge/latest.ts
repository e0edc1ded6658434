/** Questions of which only the newest counts: an answer that was overtaken is dropped. */
export class Latest {
  #asked = 0;

  /**
   * Hands on the answer, or rejects, unless something was asked or dropped since; resolves once
   * that is decided.
   */
  async take<T>(asked: Promise<T>, take: (answer: T) => void): Promise<void> {
    const mine = ++this.#asked;
    try {
      const answer = await asked;
      if (mine === this.#asked) take(answer);
    } catch (cause) {
      if (mine === this.#asked) throw cause;
    }
  }

  /** Drops the answer to what was asked: it is no longer what one looks at. */
  drop(): void {
    this.#asked++;
  }
}
