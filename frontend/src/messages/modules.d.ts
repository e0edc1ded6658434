/** “messages:en” is what messages.js makes of en.json. */
declare module "messages:*" {
  const messages: import("./messages").Messages;
  export default messages;
}
