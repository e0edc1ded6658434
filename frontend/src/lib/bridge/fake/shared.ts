/** Plugins with resources and prompts. In a recorded scene there are none. */
import type * as t from "../generated";

export class FakeShared {
  sharers: t.Sharer[] = [];
  prompts: t.Prompt[] = [];
  resources: t.Resources = { resources: [], templates: [] };
  completions: string[] = [];

  /** Has a plugin with two prompts, two resources and a template. */
  begin(): void {
    this.sharers = [
      { plugin: "library", name: "Library" },
      { plugin: "wiki", name: "Wiki" },
    ];
    const of = { plugin: "library", plugin_name: "Library" };
    this.prompts = [
      { ...of, name: "weekly", title: "Weekly review", description: "What happened, and what is next.", arguments: [] },
      {
        ...of,
        name: "summary",
        title: "Summary of a book",
        description: "One page, for somebody who has not read it.",
        arguments: [
          { name: "title", title: "Title", description: "As on the cover.", required: true },
          { name: "tone", title: "Tone", description: "", required: false },
        ],
      },
    ];
    const book = { description: "", mime_type: "text/markdown", size: 48_213 };
    this.resources = {
      resources: [
        { ...book, uri: "book://1", name: "emma", title: "Emma", description: "Jane Austen, 1815" },
        { ...book, uri: "book://2", name: "dune", title: "Dune", size: 0 },
      ],
      templates: [
        {
          template: "book://{author}/{title}",
          places: ["author", "title"],
          name: "book",
          title: "Book by author",
          description: "Any book of the shelf.",
        },
      ],
    };
    this.completions = ["Emma", "Emil and the Detectives"];
  }

  Sharers = async (): Promise<t.Sharer[]> => this.sharers;
  Prompts = async (id: string): Promise<t.Prompt[]> => this.prompts.filter((p) => p.plugin === id);
  Resources = async (id: string): Promise<t.Resources> =>
    id === "library" ? this.resources : { resources: [], templates: [] };
  Watchable = async (): Promise<boolean> => false;
  Complete = async (): Promise<t.Completions> => ({ values: this.completions, more: false });
}
