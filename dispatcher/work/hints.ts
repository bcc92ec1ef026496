import { type Static, Type } from "typebox";
import type { Publisher } from "#core/queue/jetstream/publish.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import { parser } from "#core/schema/json/parser.ts";
import type { TenantRow } from "#core/storage/tenants/tenants.ts";

const Id = Type.String({ minLength: 1, maxLength: 64 });
const MessageHint = Type.Object({ message_id: Id });
const ChunkHint = Type.Object({ chunk_id: Id });
const JobHint = Type.Object({ type: Id, id: Id, tenant_id: Type.Optional(Id) }); // without, of an earlier release

/** Reads the body of a hint to plan a message. */
export const messageHint: (input: unknown) => Static<typeof MessageHint> = parser(MessageHint);
/** Reads the body of a hint to send a chunk. */
export const chunkHint: (input: unknown) => Static<typeof ChunkHint> = parser(ChunkHint);
/** Reads the body of a hint to run a job. */
export const jobHint: (input: unknown) => Static<typeof JobHint> = parser(JobHint);

/** Which stream a hint goes to; `plan` is the plan that the tenant was on. */
type Route = { plan: string; tenant_id: string; traceparent?: string | null };

export type Hints = ReturnType<typeof hints>;

export type HintsDeps = {
  publisher: Publisher;
  subjects: Subjects;
  tenant: (id: string) => Promise<TenantRow | null>;
};

/**
 * Publishes hints to the stream of the plan that the tenant is on now, as the plan it was on may be gone. A hint that
 * JetStream has no room for is no error: the timer publishes it again.
 */
export const hints = ({ publisher, subjects, tenant }: HintsDeps) => {
  const planOf = async ({ plan, tenant_id }: Route): Promise<string> => (await tenant(tenant_id))?.plan ?? plan;
  return {
    /** Says that a message needs a turn. `cause` says what happened: the same cause is published once. */
    message: async (of: Route & { message_id: string }, cause: string): Promise<void> => {
      const { message_id, traceparent, tenant_id } = of;
      const subject = subjects.plan(await planOf(of), tenant_id);
      await publisher.publish(subject, { message_id }, { id: `${message_id}:${cause}`, traceparent });
    },
    /** Says that a chunk is to be sent. */
    chunk: async (of: Route & { _id: string }, cause: string): Promise<void> => {
      const { _id, traceparent, tenant_id } = of;
      const subject = subjects.deliver(await planOf(of), tenant_id);
      await publisher.publish(subject, { chunk_id: _id }, { id: `${_id}:${cause}`, traceparent });
    },
  };
};
