import "./lib/ui/resize"; // before anything observes a size
/** Mounts the window on the program's bridge, or in fake mode on a program with fixed answers. */
import { mount } from "svelte";
import Root from "./Root.svelte";
import { insideWails, wailsBridge, type Bridge } from "./lib/bridge/calls";
import { reportFaults } from "./lib/bridge/faults";
import type { Theme } from "./lib/bridge/generated";
import "./styles/prose.css";
import "./styles/code.css";

async function bridge(): Promise<Bridge | null> {
  if (import.meta.env.MODE === "fake") {
    const { fakeBridge } = await import("./lib/bridge/fake");
    const query = new URLSearchParams(location.search);
    const fake = fakeBridge({
      scene: query.get("scene") ?? "chat",
      theme: (query.get("theme") ?? "system") as Theme,
    });
    Object.assign(globalThis, { fake }); // for the end-to-end tests
    return fake;
  }
  return insideWails() ? wailsBridge() : null;
}

const target = document.getElementById("app");
if (target)
  void bridge().then((bridge) => {
    if (bridge) reportFaults(bridge);
    mount(Root, { target, props: { bridge } });
  });
