/* The command from the sources: `node src/main.ts`. `npm start` runs main.js, which starts without Node's remover of types. */
import './main.ts'
