/** Tests of the page run in English. */
import { speak } from "./lib/strings";

await speak("en");
