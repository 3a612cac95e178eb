import type { Mark } from '../documents/block.ts'
import { SIGNS } from '../documents/words.ts'
import { type Html, html } from './html.ts'

/** Words with the sign and colour of a mark, in one line. */
export const marked = (mark: Mark, words: string): Html =>
  html`<span class="mark ${mark}">${SIGNS[mark]}\u00a0${words}</span>`
