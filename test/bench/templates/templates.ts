import { setImmediate as nextTurn } from "node:timers/promises";
import { templateIn } from "#core/domain/content/taken.ts";
import { templateValues } from "#core/domain/content/values.ts";
import { contentRenderer } from "#core/runtime/templates/content/renderer.ts";
import { contentLimits } from "#core/runtime/templates/limits.ts";
import type { Content } from "#core/schema/messages/notification.ts";
import { atMost } from "../figures/figure.ts";
import type { Measurement, Measurements } from "../measure-all.ts";

const plain: Content = {
  headings: { en: "{{ app.name }}", de: "{{ app.name }}" },
  contents: {
    en: 'Hello {{ user.tags.name | default: "there" }}, your order {{ custom_data.order }} is on its way.',
    de: 'Hallo {{ user.tags.name | default: "du" }}, deine Bestellung {{ custom_data.order }} ist unterwegs.',
  },
};
const loop =
  "{% for item in custom_data.items %}{{ item.name }}: {{ item.price }}{% unless forloop.last %}, {% endunless %}{% endfor %}";

const custom_data = { order: "4711", items: ["apples", "pears", "plums"].map((name, n) => ({ name, price: n + 1 })) };

/** Renders of plain outputs in a second of this thread, while something else is done. */
export const plainRendersBeside = async (work: Promise<unknown>): Promise<number> => {
  const run = runner(plain);
  const over = work.then(() => true);
  const beganMs = performance.now();
  let renders = 0;
  for (let isOver = false; !isOver; renders += slice) {
    run(slice);
    isOver = await Promise.race([over, nextTurn(false)]);
  }
  return (renders * 1_000) / (performance.now() - beganMs);
};

const slice = 1_000;

/** CPU of a render on this thread, µs, each for another person. */
const cpuUsOf = (content: Content, renders: number): number => {
  const run = runner(content);
  run(renders / 5);
  const begun = process.threadCpuUsage();
  run(renders);
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / renders;
};

/** Renders so many times, each for another person. */
const runner = (content: Content): ((times: number) => void) => {
  const { render } = contentRenderer(templateIn(content, { content, partials: [] }, "de"));
  const app = { _id: "app_1", name: "Shop" };
  const persons = Array.from({ length: 1_000 }, (_, n) => ({
    user: {
      _id: `usr_${n}`,
      external_id: `${n}`,
      aliases: {},
      tags: { name: `Ann ${n}` },
      properties: {},
      language: "de",
      country: null,
      time_zone: null,
    },
    subscription: { _id: `sub_${n}`, channel: "ios_push" as const, language: "de" },
  }));
  return (times) => {
    for (let n = 0; n < times; n++) {
      const { user, subscription } = persons[n % persons.length] ?? { user: null, subscription: null };
      const said = render(
        templateValues({ user, subscription, app, content: { custom_data } }),
        contentLimits.renderMs,
      );
      if (typeof said !== "object" || !("content" in said)) throw new Error(JSON.stringify(said));
    }
  };
};

const measureRenders: Measurement = async (round, tell) => {
  const renders = round.isShort ? 1_000 : 200_000;
  const how = `${renders} renders, each of another person's values, which are put together for it`;
  const value = cpuUsOf(plain, renders);
  tell({ name: "render, plain outputs", reach: atMost(2), value, unit: "µs", how: `title and text; ${how}` });
  const looped = cpuUsOf({ contents: { en: `${plain.contents?.["de"]} ${loop}` } }, renders / 4);
  tell({ name: "render, with a loop", reach: atMost(20), value: looped, unit: "µs", how: `three rounds; ${how}` });
};

/** What a recipient's own text costs. */
export const templates: Measurements = { templates: measureRenders };
