import { expect } from "chai";
import { swiftOf } from "#core/domain/live-activities/swift.ts";
import type { ActivitySchema } from "#core/schema/live-activities/type.ts";

const schema = (properties: ActivitySchema["properties"], required: string[] = []): ActivitySchema => ({
  type: "object",
  properties,
  required,
});

describe("the Swift struct of a live activity type", () => {
  it("decodes what its schemas admit", () => {
    const source = swiftOf({
      name: "OrderAttributes",
      content_state_schema: schema(
        {
          status: { type: "string", enum: ["packed", "shipped"], description: "where it is" },
          minutes: { type: "integer", minimum: 0 },
          share: { type: "number" },
          late: { type: "boolean" },
        },
        ["status"],
      ),
      attributes_schema: schema(
        { order: { type: "string" }, "gate-no": { type: "integer" }, default: { type: "string" } },
        ["order"],
      ),
    });
    expect(source).to.equal(`// Made by Herald from the schemas of a live activity type. Source: docs/live-activities.md
import ActivityKit

struct OrderAttributes: ActivityAttributes {
    public struct ContentState: Codable, Hashable {
        /// where it is; one of packed, shipped
        var status: String
        var minutes: Int?
        var share: Double?
        var late: Bool?
    }

    /// Which activity it is: goes with its token to your server.
    var herald_activity_id: String?
    var order: String
    var gate_no: Int?
    var \`default\`: String?

    enum CodingKeys: String, CodingKey {
        case herald_activity_id
        case order
        case gate_no = "gate-no"
        case \`default\`
    }
}
`);
  });

  it("is Swift whatever its names are", () => {
    const source = swiftOf({
      name: "1 }\nimport Evil",
      content_state_schema: schema({
        'a"\\(b)': { type: "string", description: "x\n} evil" },
        "a???b?": { type: "string" },
      }),
      attributes_schema: schema({}),
    });
    expect(source).to.include("struct _1___import_Evil: ActivityAttributes {");
    expect(source).to.include("/// x } evil\n");
    expect(source).to.include('case a___b_ = "a\\"\\\\(b)"');
    expect(source).to.include('case a___b__2 = "a???b?"');
  });
});
