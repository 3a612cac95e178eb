import { tooOld } from './node-version.js'

// The first import of the library: what comes after it needs a newer version of Node.js than the one that cannot load it.
const refusal = tooOld(process.version)
if (refusal !== undefined) throw new Error(refusal)
