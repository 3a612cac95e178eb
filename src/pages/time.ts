import { timeTag } from '../documents/html/inline.ts'
import { type Html, rendered } from './html.ts'

/** A time in ISO 8601; the script of every page shows it in the visitor's time zone. */
export const timeOf = (time: string): Html => rendered(timeTag(time))
