/** Pages of later parts, with words that they must show. */
export const OTHER_PAGES: readonly (readonly [path: string, words: string])[] = [['/monitors', 'Watch something']]
