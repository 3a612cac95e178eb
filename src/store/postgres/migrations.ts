import { REPORT_TABLES } from './report-tables.ts'
import { TABLES } from './tables.ts'

/**
 * The steps of the schema, in order; version N is the state after the Nth. Nothing was released yet: the first step changes with the program, and a database of an
 * earlier development version is created anew. From the first release on, a step is never edited: what is wrong in it is corrected by a new one.
 */
export const MIGRATIONS: readonly string[] = [[TABLES, REPORT_TABLES].join('\n')]
