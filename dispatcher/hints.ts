import { type Static, Type } from "typebox";
import type { Publisher } from "#core/queue/publish.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import { parser } from "#core/schema/parser.ts";

const Id = Type.String({ minLength: 1, maxLength: 64 });
const MessageHint = Type.Object({ message_id: Id });
const ChunkHint = Type.Object({ chunk_id: Id });

/** Reads the body of a hint to plan a message. */
export const messageHint: (input: unknown) => Static<typeof MessageHint> = parser(MessageHint);
/** Reads the body of a hint to send a chunk. */
export const chunkHint: (input: unknown) => Static<typeof ChunkHint> = parser(ChunkHint);

/** Whose stream a hint goes to. */
type Lane = { plan: string; tenant_id: string; traceparent?: string | null };

export type Hints = {
  /** Says that a message needs a turn; `cause` is what happened: the same cause rings once. */
  message: (of: Lane & { message_id: string }, cause: string) => Promise<void>;
  /** Says that a chunk is to be sent. */
  chunk: (of: Lane & { _id: string }, cause: string) => Promise<void>;
};

/** Publishes hints. One that JetStream has no room for is rung again by the timer: refused or not, it is no error. */
export const hints = ({ publisher, subjects }: { publisher: Publisher; subjects: Subjects }): Hints => ({
  message: async ({ plan, tenant_id, message_id, traceparent }, cause) => {
    const id = `${message_id}:${cause}`;
    await publisher.publish(subjects.plan(plan, tenant_id), { message_id }, { id, traceparent });
  },
  chunk: async ({ plan, tenant_id, _id, traceparent }, cause) => {
    const id = `${_id}:${cause}`;
    await publisher.publish(subjects.deliver(plan, tenant_id), { chunk_id: _id }, { id, traceparent });
  },
});
