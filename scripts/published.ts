/**
 * Whether the package is in the npm registry. The documents say by it how to get the program (`npm run docs`), and
 * `npm publish` refuses while it is false.
 */
export const PUBLISHED: boolean = false

if (import.meta.main && !PUBLISHED) {
  console.error('scripts/published.ts says that the package is not published: set PUBLISHED, and run `npm run docs`')
  process.exit(1)
}
