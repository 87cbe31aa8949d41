import { LRUCache } from 'lru-cache'
import { invalid, unprocessable, withRecovery } from '../../config/errors.ts'
import { ruleBrokenBy } from '../../config/outgoing-address.ts'
import type { AddressRule } from '../../config/outgoing-address.ts'

const messages: Record<AddressRule, string> = {
  not_https: 'scheme: must be https',
  user_info_refused: 'user info: must hold no user name or password',
  port_not_allowed: 'port: must be 443 or 8443',
  address_not_public: 'private address: every address of the host must be public',
  name_not_found: 'name not found: the host has no address',
}

/** Verdicts on addresses that were just asked for. Each call judges its address again. */
const verdicts = new LRUCache<string, { rule: AddressRule | null }>({ max: 1_000, ttl: 10_000 })

const refusal = (message: string, field: string) =>
  unprocessable('address_refused', 'The address cannot be called', [{ field, message }])

/**
 * Refuses an address that R14 does not let be called: 422 `address_refused`. Names are resolved outside the transaction, which is then
 * repeated.
 */
export const requireCallable = (given: string, field = 'url'): void => {
  if (!URL.canParse(given)) throw invalid([{ field, message: 'must be an https address' }])
  const url = new URL(given)
  const verdict = verdicts.get(url.href)
  if (verdict?.rule) throw refusal(messages[verdict.rule], field)
  if (verdict) return
  throw withRecovery(refusal('is being resolved', field), async () => {
    verdicts.set(url.href, { rule: await ruleBrokenBy(url) })
    return true
  })
}
