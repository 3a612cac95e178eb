/**
 * SARIF 2.1.0 (OASIS) for what we write: the objects that we use, with all their properties that we could write, their
 * types and bounds, as the sections of the standard have them. Properties that are not listed are refused, so that one
 * is added here before it is written.
 */
const message = {
  type: 'object',
  properties: { text: { type: 'string' }, markdown: { type: 'string' }, id: { type: 'string' } },
  anyOf: [{ required: ['text'] }, { required: ['id'] }],
  additionalProperties: false,
} // §3.11
const level = { enum: ['none', 'note', 'warning', 'error'] } // §3.27.10
const propertyBag = {
  type: 'object',
  properties: { tags: { type: 'array', uniqueItems: true, items: { type: 'string' } } },
} // §3.8
const strings = { type: 'object', additionalProperties: { type: 'string' } }

const rule = {
  // §3.49
  type: 'object',
  required: ['id'],
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    shortDescription: { ...message, required: ['text'] },
    fullDescription: { ...message, required: ['text'] },
    help: { ...message, required: ['text'] },
    helpUri: { type: 'string', format: 'uri' },
    defaultConfiguration: {
      type: 'object',
      properties: { enabled: { type: 'boolean' }, level, rank: { type: 'number', minimum: -1, maximum: 100 } },
      additionalProperties: false,
    },
    properties: propertyBag,
  },
  additionalProperties: false,
}

const location = {
  // §3.28
  type: 'object',
  properties: {
    physicalLocation: {
      type: 'object',
      anyOf: [{ required: ['artifactLocation'] }, { required: ['address'] }],
      properties: {
        artifactLocation: {
          type: 'object',
          properties: {
            uri: { type: 'string', format: 'uri-reference' },
            uriBaseId: { type: 'string' },
            index: { type: 'integer', minimum: -1 },
          },
          additionalProperties: false,
        },
        region: {
          type: 'object',
          properties: { startLine: { type: 'integer', minimum: 1 }, endLine: { type: 'integer', minimum: 1 } },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    },
    logicalLocations: {
      type: 'array',
      uniqueItems: true,
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, fullyQualifiedName: { type: 'string' }, kind: { type: 'string' } },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
}

const result = {
  // §3.27
  type: 'object',
  required: ['message'],
  properties: {
    ruleId: { type: 'string' },
    ruleIndex: { type: 'integer', minimum: -1 },
    level,
    kind: { enum: ['notApplicable', 'pass', 'fail', 'review', 'open', 'informational'] },
    message,
    locations: { type: 'array', items: location },
    fingerprints: strings,
    partialFingerprints: strings,
    properties: propertyBag,
  },
  additionalProperties: false,
}

const run = {
  // §3.14
  type: 'object',
  required: ['tool'],
  properties: {
    tool: {
      // §3.18
      type: 'object',
      required: ['driver'],
      properties: {
        driver: {
          type: 'object',
          required: ['name'],
          properties: {
            name: { type: 'string' },
            version: { type: 'string' },
            semanticVersion: { type: 'string' },
            informationUri: { type: 'string', format: 'uri' },
            rules: { type: 'array', uniqueItems: true, items: rule },
          },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    },
    invocations: {
      type: 'array',
      items: {
        // §3.20
        type: 'object',
        required: ['executionSuccessful'],
        properties: {
          executionSuccessful: { type: 'boolean' },
          exitCode: { type: 'integer' },
          toolExecutionNotifications: {
            type: 'array',
            items: {
              type: 'object',
              required: ['message'],
              properties: { message, level },
              additionalProperties: false,
            },
          },
        },
        additionalProperties: false,
      },
    },
    results: { type: 'array', items: result },
  },
  additionalProperties: false,
}

export const SARIF = {
  // §3.13
  type: 'object',
  required: ['version', 'runs'],
  properties: {
    $schema: { type: 'string', format: 'uri' },
    version: { enum: ['2.1.0'] },
    runs: { type: 'array', items: run },
  },
  additionalProperties: false,
}
