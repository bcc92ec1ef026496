import { type Static, Type } from "typebox";
import { named } from "../json/named.ts";
import { PersonalData } from "../people/data.ts";
import { Export } from "./export.ts";

/** Reply of `GET …/users/by/{label}/{id}/data`: what is stored about a person, or the export that it is written into. */
export const PersonalDataOrExport = Type.Union([PersonalData, Export]);
export type PersonalDataOrExport = Static<typeof PersonalDataOrExport>;

named({ PersonalDataOrExport });
