import { errorCodes } from '../../config/error-codes.ts'
import type { Refusal } from './codes.ts'

type Json = Record<string, unknown>

const sentences: Record<string, string> = Object.assign({}, ...Object.values(errorCodes))

export const errorCodeSchema: Json = {
  type: 'string',
  description: 'Stable: tell errors apart by it.',
  enum: Object.keys(sentences),
  'x-enumDescriptions': sentences,
}

export const errorSchema: Json = {
  type: 'object',
  required: ['statusCode', 'code', 'message', 'requestId'],
  properties: {
    statusCode: { type: 'integer', format: 'int32', minimum: 400, maximum: 599 },
    code: { $ref: '#/components/schemas/ErrorCode' },
    message: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['field', 'message'],
        properties: { field: { type: 'string' }, message: { type: 'string' } },
      },
    },
    error: { type: 'string', const: 'ForbiddenException', description: 'On every 403' },
    requestId: { type: 'string' },
  },
}

/** Headers of every reply that was counted. */
export const rateHeaders: Record<string, Json> = Object.fromEntries(
  [
    ['X-RateLimit-Limit', 'Requests a minute'],
    ['X-RateLimit-Remaining', 'Requests left in the window'],
    ['X-RateLimit-Reset', 'End of the window, Unix seconds'],
  ].map(([name, description]) => [
    name,
    { description, schema: { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } },
  ]),
)

export const requestIdHeader: Json = {
  description: 'Names the request in our logs: tell it when you report a fault',
  schema: { type: 'string', maxLength: 64 },
}

export const retryAfter: Json = {
  description: 'Seconds to wait',
  schema: { type: 'integer', format: 'int32', minimum: 1, maximum: 2_147_483_647 },
}

const meanings: Record<number, string> = {
  400: 'The request is not valid',
  401: 'Not authenticated',
  403: 'Not permitted, or a feature is not active',
  404: 'Not found',
  409: 'Another change got ahead',
  422: 'A rule of the business refuses it',
  429: 'Too many requests; Retry-After says when',
  500: 'Something went wrong on our side',
  503: 'A part that it needs is down; Retry-After says when',
}

/** Begins the names of shared error replies; the kinds of the endpoint follow. */
export const refusalNames: Record<number, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  422: 'Unprocessable',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'Unavailable',
}

/** An error reply of the document, with the codes that it may carry, and the `headers` of every reply. */
export const refusalReply = ({ status, codes }: Refusal, headers: Json): Json => ({
  description: `${meanings[status]}: ${codes.map((code) => `\`${code}\``).join(', ')}`,
  headers: {
    ...headers,
    ...(status === 429 || status === 503 ? { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } : {}),
  },
  content: {
    'application/json': {
      schema: {
        allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { code: { type: 'string', enum: codes } } }],
      },
    },
  },
})
