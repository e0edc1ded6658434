// Messages between a plugin's backend and its frontend. Conclave runs no
// frontends, so what is sent is dropped and nothing arrives (contracts/spindle, section 3.5).

import { subscribe } from "./events.js";

export function sendToFrontend() {}

export function onFrontendMessage(hear) {
  return subscribe("FRONTEND_MESSAGE", hear);
}
