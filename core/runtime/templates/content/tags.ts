import {
  type Arguments,
  type Context,
  type Emitter,
  Hash,
  type Liquid,
  type PartialScope,
  Tag,
  type TagToken,
  type Template,
  type TopLevelToken,
  Value,
  type ValueToken,
} from "liquidjs";

/** Gives a partial, parsed. @throws Error for one that there is not */
export type PartialOf = (name: string) => Template[];

/** A recipient gets nothing: `{% abort "reason" %}`. */
export class Aborted extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super("aborted");
    this.name = "Aborted";
    this.reason = reason;
  }
}

/** The tags of messages' content, beside the usual ones. */
export const contentTags = (partialOf: PartialOf) => ({ abort: AbortTag, render: renderTag(partialOf) });

const reasonCharacters = 200;

class AbortTag extends Tag {
  readonly #reason: Value | null;

  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
    super(token, rest, liquid);
    this.tokenizer.skipBlank();
    this.#reason = this.tokenizer.end() ? null : new Value(this.tokenizer.readFilteredValue(), liquid);
  }

  *arguments(): Arguments {
    if (this.#reason !== null) yield this.#reason;
  }

  *render(context: Context): Generator<unknown, void, unknown> {
    const reason: unknown = this.#reason === null ? "" : yield this.#reason.value(context, false);
    throw new Aborted(typeof reason === "string" ? reason.slice(0, reasonCharacters) : "");
  }
}

/** `{% render "footer", name: user.tags.name %}`: a partial sees what it is handed, and what every template sees. */
const renderTag = (partialOf: PartialOf) =>
  class RenderTag extends Tag {
    readonly #name: string;
    readonly #steps: Template[];
    readonly #values: Hash;

    constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
      super(token, rest, liquid);
      this.#name = nameIn(token);
      this.#steps = partialOf(this.#name);
      this.tokenizer.readValue();
      this.#values = new Hash(this.tokenizer);
    }

    *arguments(): Arguments {
      const given = Object.values(this.#values.hash).filter((value) => value !== undefined);
      yield* given as ValueToken[]; // sound: the tokenizer reads them as values
    }

    *children(): Generator<unknown, Template[]> {
      yield; // Liquid asks for a generator
      return this.#steps;
    }

    partialScope(): PartialScope {
      return { name: this.#name, isolated: true, scope: Object.keys(this.#values.hash) };
    }

    *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
      const child = context.spawn();
      Object.assign(child.bottom(), yield this.#values.render(context));
      yield this.liquid.renderer.renderTemplates(this.#steps, child, emitter);
    }
  };

const nameIn = ({ args }: TagToken): string => {
  const [, name] = /^\s*(?:"([^"]+)"|'([^']+)')/.exec(args)?.filter((part) => part !== undefined) ?? [];
  if (name === undefined) throw new Error("render names its partial in quotes");
  return name;
};
