/**
 * Whether a text shows nothing: it has only blanks, control characters and what Unicode lets a reader leave out, such as
 * the zero width space. The pattern of Braille without a dot shows nothing either.
 * Source: Unicode Standard Annex #44, White_Space and Default_Ignorable_Code_Point.
 */
export const isBlank = (text: string): boolean => blank.test(text);

const blank = /^[\s\p{Cc}\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800]*$/u;
