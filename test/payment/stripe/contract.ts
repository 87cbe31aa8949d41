import { Ajv } from 'ajv'
import type { ValidateFunction } from 'ajv'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Judge } from './peer.ts'

/**
 * The contract of Stripe, made from the types of its own SDK at the first run and kept in the cache: unknown parameters are refused, and a value that
 * an enum does not list, though the types leave each enum open at its end.
 */
const cached = fileURLToPath(new URL('../../../node_modules/.cache/stripe-23.1.0-requests.json', import.meta.url))
const types = fileURLToPath(new URL('types.ts', import.meta.url))
const tsconfig = fileURLToPath(new URL('tsconfig.types.json', import.meta.url))

type Definitions = Record<string, unknown>

const generate = async (): Promise<Definitions> => {
  const { createGenerator } = await import('ts-json-schema-generator')
  const schema = createGenerator({ path: types, tsconfig, type: '*', skipTypeCheck: true }).createSchema('*')
  return { ...(schema.definitions as Definitions), OtherString: { not: {} } }
}

const definitions = async (): Promise<Definitions> => {
  if (existsSync(cached)) return JSON.parse(readFileSync(cached, 'utf8')) as Definitions
  const made = await generate()
  mkdirSync(fileURLToPath(new URL('../../../node_modules/.cache/', import.meta.url)), { recursive: true })
  writeFileSync(cached, JSON.stringify(made))
  return made
}

const requests: readonly (readonly [path: RegExp, type: string])[] = [
  [/^\/v1\/payment_intents$/, 'PaymentIntentCreate'],
  [/^\/v1\/payment_intents\/[^/]+\/capture$/, 'PaymentIntentCapture'],
  [/^\/v1\/payment_intents\/[^/]+\/cancel$/, 'PaymentIntentCancel'],
  [/^\/v1\/refunds$/, 'RefundCreate'],
  [/^\/v1\/accounts$/, 'AccountCreate'],
  [/^\/v1\/account_links$/, 'AccountLinkCreate'],
  [/^\/v1\/payment_links$/, 'PaymentLinkCreate'],
  [/^\/v1\/payment_links\/[^/]+$/, 'PaymentLinkUpdate'],
  [/^\/v1\/setup_intents$/, 'SetupIntentCreate'],
  [/^\/v1\/customers$/, 'CustomerCreate'],
  [/^\/v1\/disputes\/[^/]+$/, 'DisputeUpdate'],
  [/^\/v1\/disputes\/[^/]+\/close$/, 'DisputeClose'],
  [/^\/v1\/payment_methods\/[^/]+\/detach$/, 'PaymentMethodDetach'],
]

const replies: Readonly<Record<string, string>> = {
  payment_intent: 'PaymentIntentReply',
  refund: 'RefundReply',
  customer: 'CustomerReply',
}

/** Only what the adapter reads is compared: a reply of Stripe has more. */
const partOf = (object: object, schema: { properties?: object }) =>
  Object.fromEntries(Object.entries(object).filter(([field]) => field in (schema.properties ?? {})))

/** Judges requests that change something, and replies; answers what is wrong with one. */
export const stripeContract = async (): Promise<Judge> => {
  const ajv = new Ajv({ strict: false, coerceTypes: 'array', allowUnionTypes: true, validateFormats: false })
  const exact = new Ajv({ strict: false, allowUnionTypes: true, validateFormats: false })
  const schemas = await definitions()
  for (const one of [ajv, exact]) one.addSchema({ $id: 'stripe', definitions: schemas })
  const compiled = new Map<string, ValidateFunction>()
  const checkOf = (type: string, by: Ajv) => {
    const validate = compiled.get(type) ?? by.compile({ $ref: `stripe#/definitions/${type}` })
    compiled.set(type, validate)
    return validate
  }
  const judgeReply = (reply: object): string | null => {
    const { object, data } = reply as { object?: string; data?: object[] }
    if (object === 'list') return (data ?? []).map(judgeReply).find((wrong) => wrong !== null) ?? null
    const type = replies[object ?? '']
    if (type === undefined) return null
    const validate = checkOf(type, exact)
    const part = partOf(reply, schemas[type] as { properties?: object })
    return validate(part) ? null : `a reply that is no ${type}: ${exact.errorsText(validate.errors)}`
  }
  return {
    request: (path, body) => {
      const type = requests.find(([pattern]) => pattern.test(path))?.[1]
      if (type === undefined) return `${path}: no request that the contract knows`
      const validate = checkOf(type, ajv)
      return validate(body) ? null : `${path}: ${ajv.errorsText(validate.errors)}`
    },
    reply: judgeReply,
  }
}
