import { type Html, rendered } from './html.ts'

/** The drawing of the icon: an envelope's flap, from which a sounding line goes down to its lead. On a square of 32. */
const LINES =
  '<path d="M7 9l9 7.5L25 9" fill="none" stroke-width="2.8" stroke-linecap="round" stroke-linejoin="round"/><path d="M16 16.5v5" stroke-width="2.8"/><circle cx="16" cy="24" r="2.6" stroke="none"/>'

/** The icon as a file, for the tabs of browsers. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#1a56b8"/><g fill="#fff" stroke="#fff">${LINES}</g></svg>`

/** The icon and the word mark, for the top of a page. */
export const wordMark = (): Html =>
  rendered(
    `<svg viewBox="0 0 32 32" aria-hidden="true" focusable="false"><rect width="32" height="32" rx="8" fill="currentColor"/><g>${LINES}</g></svg>mailsonde`,
  )
