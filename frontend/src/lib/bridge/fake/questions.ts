/** Questions of a plugin, as MCP servers ask them. */
import type * as t from "../generated";
import type { FakeBus } from "./bus";

const field = (name: string, type: string, more: Partial<t.Field> = {}): t.Field => ({
  name,
  title: "",
  description: "",
  type,
  required: false,
  default: null,
  format: "",
  pattern: "",
  min_length: null,
  max_length: null,
  minimum: null,
  maximum: null,
  min_choices: null,
  max_choices: null,
  choices: [],
  secret: false,
  ...more,
});

const fields = [
  field("name", "string", { title: "Name on the ticket", required: true, description: "As in your passport." }),
  field("mail", "string", { title: "E-mail", format: "email", default: "ada@example.org" }),
  field("day", "string", { title: "Day", format: "date", required: true }),
  field("seats", "integer", { title: "Seats", minimum: 1, maximum: 9, default: 2 }),
  field("quiet", "boolean", { title: "Quiet carriage", default: true }),
  field("class", "choice", {
    title: "Class",
    default: "2",
    choices: [
      { value: "1", title: "First" },
      { value: "2", title: "Second" },
    ],
  }),
  field("extras", "choices", {
    title: "Extras",
    choices: ["Bicycle", "Meal", "Dog"].map((title) => ({ value: title.toLowerCase(), title })),
  }),
  field("card_number", "string", { title: "Card number", secret: true }),
];

export class FakeQuestions {
  waiting: t.Question[] = [];

  constructor(private bus: FakeBus) {}

  /** Has a plugin ask in a chat; of "" outside of any. */
  ask(conversation: string, more: Partial<t.Question> = {}): void {
    this.waiting.push({
      id: `question-${this.waiting.length + 1}`,
      plugin: "trains",
      plugin_name: "Trains",
      conversation,
      chat_title: "",
      tool: "book",
      number: 1,
      of: 1,
      message: "Two seats are left on the 9:05 to Lyon.\nWho is travelling?",
      fields,
      address: "",
      waits: true,
      host: "",
      expires: new Date(Date.now() + 600_000).toISOString(),
      ...more,
    });
    this.bus.changed("questions");
  }

  List = async (): Promise<t.QuestionList> => ({
    revision: this.bus.revision("questions"),
    questions: [...this.waiting],
  });
}
