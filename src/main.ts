/*
 * The command from the sources: `node src/main.ts`. `npm start` runs main.js, which starts without Node's remover of
 * types.
 */
// biome-ignore lint/correctness/useImportExtensions: the file beside this one, of the same name
import './main.js'
