import { serveLane } from './lane/serve.ts'
import { KINDS } from './start/heavy-kinds.ts'

/*
 * The process for heavy work: start/heavy-command.ts starts it. It is JavaScript, and in this folder, so that its place
 * is the same below `src` and below `dist`.
 */
await serveLane(KINDS)
