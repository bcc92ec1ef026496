/** What filters and templates may both read of a person. */
export type Person = {
  _id: string;
  external_id: string | null;
  aliases: Record<string, string>;
  tags: Record<string, string>;
  properties: Record<string, unknown>;
  language: string | null;
  time_zone: string | null;
  country: string | null;
};
