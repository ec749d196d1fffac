// The scores of n-grams by which languages are told. The build replaces this file by the finished table.

export { readLanguageTable, SCORE_STEP, TABLE_LANGUAGES } from "../../../scripts/language-table.ts";
