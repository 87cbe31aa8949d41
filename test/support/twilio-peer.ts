import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Ajv } from 'ajv'
import type { ValidateFunction } from 'ajv'

type Rule = {
  type?: string
  nullable?: boolean
  pattern?: string
  maxLength?: number
  minLength?: number
  enum?: string[]
}
type Contract = {
  path: string
  /** JSON Schemas of the form that sends, and of the query that lists. */
  create: { properties: Record<string, { type?: string }> }
  list: object
  message: Record<string, Rule>
}

/** The part about messages of Twilio's published OpenAPI document. */
const contract = JSON.parse(readFileSync(new URL('./twilio-messages.json', import.meta.url), 'utf8')) as Contract

export type TwilioBehaviour =
  | 'accept'
  | 'empty 200'
  | '500 json'
  | '502 html'
  | 'reset'
  | 'reset after taking'
  | '429'
  | 'unknown number'
  | 'stopped'
  | 'account suspended'
  | 'sender not ours'
  | 'forbidden for this message'
  | 'no such content'
export type PeerText = {
  sid: string
  to: string
  from: string
  messagingServiceSid: string
  body: string
  /** JSON, of an approved content. */
  contentVariables: string
  statusCallback: string
  status: string
  errorCode: number | null
  dateCreated: Date
}

export type TwilioPeer = {
  baseUrl: string
  accountSid: string
  authToken: string
  texts: PeerText[]
  /** Requests that Twilio would not have understood. */
  misuses: string[]
  behave: (behaviour: TwilioBehaviour) => void
  stop: () => Promise<void>
}

const judge = new Ajv({
  allErrors: true,
  coerceTypes: true,
  formats: {
    // Of WhatsApp they have a prefix.
    'phone-number': /^(whatsapp:)?\+[1-9]\d{6,14}$/,
    uri: (text: string) => URL.canParse(text),
    'date-time': (text: string) => !Number.isNaN(Date.parse(text)),
    int64: true,
  },
})
const isForm = judge.compile(contract.create)
const isQuery = judge.compile(contract.list)

/** Fields as the contract has them: those of a list have all their values. */
const fieldsOf = (given: URLSearchParams): Record<string, unknown> =>
  Object.fromEntries(
    [...new Set(given.keys())].map((name) => {
      const isList = contract.create.properties[name]?.type === 'array'
      return [name, isList || given.getAll(name).length > 1 ? given.getAll(name) : given.get(name)]
    }),
  )

const fits = (rule: Rule, value: unknown): boolean => {
  if (value === null) return rule.nullable === true
  if (rule.type === 'integer') return Number.isInteger(value)
  if (rule.type === 'object') return typeof value === 'object'
  if (typeof value !== 'string') return false
  return (
    (!rule.pattern || new RegExp(rule.pattern).test(value)) &&
    (!rule.enum || rule.enum.includes(value)) &&
    value.length <= (rule.maxLength ?? 10_000)
  )
}

const readAll = async (request: IncomingMessage) => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}

type Options = {
  authToken?: string
  /** Hears of each text before its sender has an answer. */
  onText?: (text: PeerText) => void
}

/** Twilio on loopback: it checks each request and its own replies against the contract, and fails as it is told. */
export const startTwilioPeer = async ({
  authToken = randomBytes(16).toString('hex'),
  onText,
}: Options = {}): Promise<TwilioPeer> => {
  let behaviour: TwilioBehaviour = 'accept'
  const accountSid = `AC${'0'.repeat(31)}1`
  const texts: PeerText[] = []
  const misuses: string[] = []
  const note = (isRight: ValidateFunction, given: Record<string, unknown>) => {
    if (!isRight(given)) misuses.push(judge.errorsText(isRight.errors, { dataVar: JSON.stringify(given) }))
  }
  const path = contract.path.replace('{AccountSid}', accountSid)

  const shown = (text: PeerText) => {
    const message: Record<string, unknown> = {
      body: text.body,
      num_segments: '1',
      direction: 'outbound-api',
      from: text.from,
      to: text.to,
      date_updated: text.dateCreated.toUTCString(),
      price: null,
      error_message: null,
      uri: `${path.replace('.json', '')}/${text.sid}.json`,
      account_sid: accountSid,
      num_media: '0',
      status: text.status,
      messaging_service_sid: null,
      sid: text.sid,
      date_sent: null,
      date_created: text.dateCreated.toUTCString(),
      error_code: text.errorCode,
      price_unit: null,
      api_version: '2010-04-01',
      subresource_uris: {},
    }
    for (const [name, rule] of Object.entries(contract.message))
      if (!fits(rule, message[name])) throw new Error(`the peer's own ${name} is not what the contract says`)
    return message
  }
  const json = (response: ServerResponse, status: number, body: unknown) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const refuse = (response: ServerResponse, status: number, code: number, message: string) =>
    json(response, status, { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status })

  const create = async (request: IncomingMessage, response: ServerResponse) => {
    const form = new URLSearchParams(await readAll(request))
    note(isForm, fieldsOf(form))
    const take = () => {
      const text = {
        sid: `SM${randomBytes(16).toString('hex')}`,
        to: form.get('To') ?? '',
        from: form.get('From') ?? '',
        messagingServiceSid: form.get('MessagingServiceSid') ?? '',
        body: form.get('Body') ?? '',
        contentVariables: form.get('ContentVariables') ?? '',
        statusCallback: form.get('StatusCallback') ?? '',
        status: 'queued',
        errorCode: null,
        dateCreated: new Date(),
      }
      texts.push(text)
      onText?.(text)
      return text
    }
    switch (behaviour) {
      case 'accept':
        return json(response, 201, shown(take()))
      case 'empty 200':
        return json(response, 200, {})
      case '500 json':
        return refuse(response, 500, 20500, 'Internal server error')
      case '502 html':
        return void response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>')
      case 'reset':
        return void request.socket.destroy()
      case 'reset after taking':
        take()
        return void request.socket.destroy()
      case '429':
        return refuse(response, 429, 20429, 'Too Many Requests')
      case 'unknown number':
        return refuse(response, 400, 21211, `The 'To' number ${form.get('To')} is not a valid phone number.`)
      case 'stopped':
        return refuse(response, 400, 21610, 'Attempt to send to unsubscribed recipient')
      case 'account suspended':
        return refuse(response, 403, 20005, 'Account not active')
      case 'sender not ours':
        return refuse(response, 400, 21606, `The From phone number ${form.get('From')} is not a valid sender`)
      case 'forbidden for this message':
        return refuse(response, 403, 21408, 'Permission to send an SMS has not been enabled for the region')
      case 'no such content':
        return refuse(response, 404, 21655, 'The ContentSid is invalid')
    }
  }

  const list = (url: URL, response: ServerResponse) => {
    note(isQuery, fieldsOf(url.searchParams))
    const messages = texts.filter((text) => text.to === url.searchParams.get('To')).map(shown)
    json(response, 200, {
      messages,
      page: 0,
      page_size: 50,
      start: 0,
      end: messages.length,
      first_page_uri: path,
      next_page_uri: null,
      previous_page_uri: null,
      uri: path,
    })
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://peer')
    const expected = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`
    if (request.headers.authorization !== expected) return refuse(response, 401, 20003, 'Authenticate')
    if (url.pathname !== path) return refuse(response, 404, 20404, 'not found')
    if (request.method === 'GET') return list(url, response)
    return void create(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accountSid,
    authToken,
    texts,
    misuses,
    behave: (next) => {
      behaviour = next
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
