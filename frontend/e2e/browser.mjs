// Debian's Chromium, and a server of the built page on a program with fixed answers.
import { chromium } from "@playwright/test";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { patience } from "./processes.mjs";

const fake = fileURLToPath(new URL("../dist-fake", import.meta.url));
const types = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".woff2": "font/woff2",
  ".svg": "image/svg+xml",
};

/** Starts a server of a folder; returns its address and how to stop it. */
export async function serve(root = fake) {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
    const file = join(root, path === "/" ? "index.html" : path);
    try {
      const body = await readFile(file);
      response.writeHead(200, {
        "content-type": types[extname(file)] ?? "application/octet-stream",
        "cache-control": "max-age=3600",
      });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

// Debian's Chromium without its frame, which does the same in half the time; or with it, elsewhere.
const browsers = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/** How the browser is started. CONCLAVE_CHROMIUM names another program. */
export const launchOptions = {
  timeout: patience,
  executablePath: process.env.CONCLAVE_CHROMIUM ?? browsers.find(existsSync),
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
};

/** Starts the browser outside a test, as benchmarks do. */
export const launch = () => chromium.launch(launchOptions);
