import { exampleAppId, examples as refs } from "#core/schema/events/refs.ts";

/** Ids of the case that all examples are about, besides those of events. */
export const exampleIds = {
  app: exampleAppId,
  webhook: "whk_01JDKQ4WSM8B2TNQ6Z9YFJ5RCE",
  webhookDelivery: "whd_01JDKQ4WSM3V7XKC1H0EPB9GDS",
  request: "01JDKQ4WSMP6GZ2W9D8T5YKXQR",
};

/** A list of one item that ends with it, and one that goes on. */
export const lastPage = <T>(item: T) => ({ data: [item], next_cursor: null, has_more: false });
export const nextPage = <T>(item: T) => ({
  data: [item],
  next_cursor: "eyJ2IjoxfQ.Zm9yZ2VkIHNpZ25hdHVyZQ",
  has_more: true,
});

/** Of a user, what a request may say and a reply shows. */
export const profile = {
  external_id: refs.external_id,
  aliases: { crm: "A-0815" },
  tags: { tier: "gold" },
  properties: { cart: { items: 2 } },
  language: "de",
  timezone: "Europe/Berlin",
  country: "DE",
};
