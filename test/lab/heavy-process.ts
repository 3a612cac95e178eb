import { serveLane } from '../../src/lane/serve.ts'
import { LAB_KINDS } from './heavy-kinds.ts'

/** The process of a lane with the work of heavy-kinds.ts. */
await serveLane(LAB_KINDS)
