/**
 * Node's `http`, loaded by name: an import statement reads everything that a module exports, and one of its getters
 * loads undici, which takes 20 to 40 ms and 14 MB.
 */
export const { createServer, IncomingMessage, ServerResponse, STATUS_CODES } = process.getBuiltinModule('node:http')
