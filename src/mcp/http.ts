import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import { type McpSetup, mcpServer } from './server.ts'

/** Serves one request of the protocol over HTTP. Answers are whole (at most 1 MiB of JSON and its document), never streams; nothing is subscribed to. */
export const mcpHandler = (setup: McpSetup): McpHttpHandler =>
  createMcpHandler(() => mcpServer(setup), { responseMode: 'json', maxSubscriptions: 0, keepAliveMs: 0 })
