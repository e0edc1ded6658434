// Package service answers what plugins of every ecosystem may ask Conclave for: model
// calls, chats, secrets, variables, the web, notices. Each is one service of
// the wire (docs/WIRE.md, section 5), neutral between ecosystems; a dialect's shim
// maps its ecosystem's words to these.
//
//	models.generate     {messages, connection?, model?, parameters?, tools?, reasoning?, request?, stream?}
//	                    → {content, reasoning?, finish_reason, tool_calls?, usage, model}   generation
//	models.stop         {request}                                                           –
//	models.connections  {} → {connections:[{id, name, provider, model, …}]}, without keys   generation
//	chats.active        {} → {chat} or {chat:null}                                          chats
//	chats.get           {chat} → {chat} or {chat:null}                                      chats
//	chats.list          {limit?, offset?} → {chats, total}                                  chats
//	chats.update        {chat, title?, system?} → {chat}                                    chats
//	chats.messages      {chat?, limit?, offset?} → {messages, total}                        chat_mutation
//	chats.append        {chat?, role, content, media?, metadata?} → {message}               chat_mutation
//	chats.edit          {chat?, message, content?, hidden?, metadata?, versions?, version?}
//	                    → {message}                                                         chat_mutation
//	chats.remove        {chat?, message} → {removed}                                        chat_mutation
//	secrets.get         {key} → {value} or {value:null}                                     –
//	secrets.put         {key, value} · secrets.delete {key} · secrets.has {key}             –
//	secrets.list        {} → {keys}                                                         –
//	variables.get       {scope, chat?, key} → {value} or {value:null}                       –
//	variables.set       {scope, chat?, key, value} · variables.delete {scope, chat?, key}   –
//	variables.list      {scope, chat?} → {values}                                           –
//	world_books.list    {limit?, offset?} → {items, total} · world_books.get {id} → {item}  world_books
//	world_books.create  {fields} → {item} · .update {id, fields} → {item} · .delete {id}    world_books
//	world_books.entries.list|get|create|update|delete, with {parent} for list and create    world_books
//	characters.*        as world_books                                                      characters
//	personas.*          as world_books                                                      personas
//	council.settings    {} → {settings}: councilMode, members, toolsSettings                –
//	council.members     {} → {members} · council.personas {} → {items}                      –
//	http.request        {url, method?, headers?, body|base64, binary?}
//	                    → {status, status_text, url, headers, body|base64, rest?}           cors_proxy
//	http.read           {rest} → {base64, rest?}                                            cors_proxy
//	toast               {kind, text, title?}                                                –
//	tokens.count        {text|messages} → {total_tokens, approximate}                       –
//
// A chat that is not named is the one the call was made in, else the one that is
// open. What a plugin writes into a chat in which an answer is being written is
// kept back until the answer is whole; the answer itself cannot be edited until then.
//
// Variables, world books, characters and personas are kept with who wrote them. A plugin that is
// given such a text may tell of it later, so what it writes from then on has those authors too.
//
// It knows no store, vendor, keychain or window: [Options] has a small interface
// for each. Nothing of a plugin's wire or language belongs here. Read [Options]
// and [Services.All] first.
package service
