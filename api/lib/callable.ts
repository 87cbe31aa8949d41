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

/** Verdicts on addresses that were just asked for, for the repeats of the command that asked. Each call judges its address again. */
const verdicts = new LRUCache<string, { rule: AddressRule | null }>({ max: 1_000, ttl: 60_000 })

const refusal = (message: string, field: string) =>
  unprocessable('address_refused', 'The address cannot be called', [{ field, message }])

/**
 * Refuses addresses that R14 of webhooks does not let be called, by the field that each stands in: 422 `address_refused`. Names are resolved outside the
 * transaction, which is then repeated: all of them, so that none that was known already expires meanwhile.
 */
export const requireAllCallable = (given: Readonly<Record<string, string>>): void => {
  const urls: URL[] = []
  let isOpen = false
  for (const [field, text] of Object.entries(given)) {
    if (!URL.canParse(text)) throw invalid([{ field, message: 'must be an https address' }])
    const url = new URL(text)
    const verdict = verdicts.get(url.href)
    if (verdict?.rule) throw refusal(messages[verdict.rule], field)
    if (!verdict) isOpen = true
    urls.push(url)
  }
  if (!isOpen) return
  throw withRecovery(refusal('is being resolved', Object.keys(given)[0] ?? ''), async () => {
    const rules = await Promise.all(urls.map((url) => ruleBrokenBy(url)))
    for (const [at, { href }] of urls.entries()) verdicts.set(href, { rule: rules[at] ?? null })
    return true
  })
}

/** As `requireAllCallable`, of one address. */
export const requireCallable = (given: string, field = 'url'): void => requireAllCallable({ [field]: given })
