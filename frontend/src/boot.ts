/**
 * What the page runs first: it lets the first frame of index.html reach the
 * screen, and then loads the window. The styles that the frame needs come with
 * it; a module is loaded once, however often it is asked for.
 */
import "./styles/tokens.css";
import "./styles/base.css";
import { watch } from "./first";
import { speak } from "./lib/strings";

watch();

const texts = speak(document.documentElement.lang);
const start = () => void texts.then(() => import("./main"));

requestAnimationFrame(() => setTimeout(start));
setTimeout(start, 100); // a page that is not shown has no frames
