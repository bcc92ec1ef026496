import type { KubeClient } from "#core/runtime/kube/client.ts";
import { Deposed, type Fence } from "#core/storage/settings/managed.ts";
import type { Term } from "./leader.ts";

/** Allows writes only while this process leads. Before its first term nothing may be written. */
export type TermFence = Fence & { enter: (term: Pick<Term, "epoch" | "isOver">) => void };

export const termFence = (): TermFence => {
  let term: Pick<Term, "epoch" | "isOver"> = { epoch: 0, isOver: () => true };
  return {
    enter: (next) => {
      term = next;
    },
    epoch: () => term.epoch,
    check: () => {
      if (term.isOver()) throw new Deposed(`epoch ${term.epoch}`);
    },
  };
};

/** A client whose requests that change something are sent only while the fence allows it. */
export const fencedClient = (client: KubeClient, { check }: Pick<Fence, "check">): KubeClient => ({
  ...client,
  call: async (request, signal) => {
    if (request.method !== "GET") check();
    return client.call(request, signal);
  },
});
