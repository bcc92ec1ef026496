import { expect } from "chai";
import type { MessageAim } from "#core/domain/segments/aim.ts";
import { aimedAudience } from "../../../../dispatcher/messages/aimed.ts";
import { aMessage } from "../../../support/rows/work.ts";

const nobodyInPages = async function* () {};

describe("pages of ids of which some are meant", () => {
  const ids = ["sub_1", "sub_2", "sub_3", "sub_4", "sub_5"];
  const read: string[] = [];
  const aim: MessageAim = { isEveryone: true, included: [], excluded: [], filter: { all: [] }, segments: [] };
  const among = (meant: readonly string[], over: { aim?: MessageAim } = { aim }): Promise<string[]> => {
    read.length = 0;
    const nobody = async () => [];
    const audience = aimedAudience({
      people: {
        page: nobody,
        resolve: async () => new Map(),
        chosen: async () => ({ subscriptionIds: new Set(), userIds: new Set() }),
      },
      aimed: {
        page: async () => ({ rows: [], isWhole: true, looked: 0 }),
        within: () => nobodyInPages(),
        areFew: () => false,
        among: async (_app, some) => new Set(some.filter((id) => meant.includes(id))),
        ofUsers: nobody,
        passing: nobody,
      },
    });
    return audience.among({ after: "" }, aMessage(over), async (after) => {
      read.push(after);
      return ids.filter((id) => id > after).slice(0, 2);
    });
  };

  it("give the first of which somebody is, without the others", async () => {
    expect(await among(["sub_4"])).to.deep.equal(["sub_4"]);
    expect(read).to.deep.equal(["", "sub_2"]);
  });

  it("end where nobody is", async () => {
    expect(await among([])).to.deep.equal([]);
    expect(read).to.deep.equal(["", "sub_2", "sub_4", "sub_5"]);
  });

  it("are whole for a message without segments and filters", async () => {
    expect(await among([], {})).to.deep.equal(["sub_1", "sub_2"]);
  });
});
