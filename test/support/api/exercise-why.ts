import type { Ask } from "./exercise.ts";

/** Asks why somebody got one of the last notifications, in every way; users `ann` and `bob` are there. */
export const useWhy = async (ask: Ask, appId: string): Promise<void> => {
  const { data } = await ask("GET", `/v1/notifications?app_id=${appId}&limit=1`);
  const [{ id }] = data as [{ id: string }];
  const why = `/v1/apps/${appId}/notifications/${id}/why`;
  await ask("GET", `${why}?external_id=ann`);
  await ask("GET", `${why}?subscription_id=sub_01JDKQ4WSM0Q2V6E3T8YB4ZC9N`);
  await ask("GET", `${why}?address=ann%40example.com`);
  const { data: deliveries } = await ask("GET", `/v1/notifications/${id}/deliveries?limit=1`);
  for (const { subscription_id: of } of deliveries as { subscription_id: string }[])
    await ask("GET", `${why}?subscription_id=${of}`);
  await ask("GET", `${why}/summary`);
};
