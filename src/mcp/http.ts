import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import { type McpSetup, mcpServer } from './server.ts'

/**
 * Serves one request of the protocol over HTTP. Answers are complete (at most 1 MiB of JSON and its document), never
 * streams; there are no subscriptions.
 */
export const mcpHandler = (setup: McpSetup): McpHttpHandler =>
  createMcpHandler(() => mcpServer(setup), { responseMode: 'json', maxSubscriptions: 0, keepAliveMs: 0 })
