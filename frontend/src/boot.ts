/**
 * What the page runs first: it lets the first frame of index.html reach the
 * screen, and then loads the texts and the window. The styles that the frame needs
 * come with it; a module is loaded once, however often it is asked for.
 */
import "./styles/tokens.css";
import "./styles/base.css";
import { say, watch } from "./first";
import { speak } from "./lib/strings";

watch();

const { lang } = document.documentElement; // the program writes it; it is empty where the system does not say
const asked = import.meta.env.MODE === "fake" ? new URLSearchParams(location.search) : null; // by a scene
const texts = speak(asked?.get("lang") || lang || navigator.language).then(() => say(asked?.get("dir")));
const start = () => void texts.then(() => import("./main"));

requestAnimationFrame(() => setTimeout(start));
setTimeout(start, 100); // a page that is not shown has no frames
import "./lib/ui/resize"; // before anything observes a size
