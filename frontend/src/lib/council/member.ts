import type { Member } from "../bridge/generated";

/** An id made of a name that none of the members has. */
export function freeId(members: Member[], name: string): string {
  const base = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 40);
  let id = base || "member";
  for (let n = 2; members.some((m) => m.id === id); n++) id = `${base || "member"}-${n}`;
  return id;
}

/** A member as it is before anything is set. */
export function newMember(members: Member[], name: string): Member {
  return {
    id: freeId(members, name),
    name,
    role: "",
    persona: {},
    tools: [],
    chance: 100,
    weight: 1,
    limits: {},
    context: { policy: "", system: true, memory: true, others: true, files: true },
  };
}

/** What a member's card shows, and does when it is asked to. */
export interface MemberProps {
  member: Member;
  place: number;
  count: number;
  open: boolean;
  ontoggle: () => void;
  onmove: (by: 1 | -1) => void;
  onduplicate: () => void;
  onremove: () => void;
}
