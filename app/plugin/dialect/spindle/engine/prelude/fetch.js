// What the permissions of a plugin have to do with the network: who hears of a
// refused fetch. fetch itself is lazy/http.js.

let refused = () => {};

/** onDeniedFetch names the function that hears of refused fetches. */
export function onDeniedFetch(hear) {
  refused = hear;
}

/** refuse tells the plugin's listeners that the network was refused. */
export function refuse(operation) {
  refused({ permission: "cors_proxy", operation });
}
