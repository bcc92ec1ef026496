import { type Static, Type } from "typebox";
import { Nullable } from "../json/common.ts";

const { Integer, Number: Num } = Type;

/** Recipients of an optimised message who are sent to in the hour of all, percent. */
export const standardControlPercent = 5;

export const ControlPercent = Integer({
  minimum: 0,
  maximum: 50,
  description:
    "of an optimised message: recipients who are sent to in the hour of all, so that its gain is known; default 5",
});

const Group = Type.Object({ sent: Integer(), opened: Integer(), clicked: Integer() });

const Gain = Nullable(
  Type.Object({
    uplift: Num({ description: "of the rate, relative to that of the control: 0.1 is a tenth more" }),
    interval: Type.Array(Num(), { minItems: 2, maxItems: 2, description: "of the uplift, 95 %: low and high" }),
  }),
);

/** What sending to each in their own hour has gained. Source: docs/reference/timing.md#gain. */
export const ShownGain = Type.Object({
  control_percent: Integer(),
  optimized: Group,
  control: Group,
  open_rate: Gain,
  click_rate: Gain,
});
export type ShownGain = Static<typeof ShownGain>;
