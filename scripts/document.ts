import { createConfig, lintFromString } from '@redocly/openapi-core'
import { readFileSync } from 'node:fs'

/** Rules that do not apply to this document, with the reason in docs/decisions/0024. */
const rules = { 'no-ambiguous-paths': 'off' } as const

/** Ends with 1 where the document breaks a rule of Redocly's `recommended-strict`. */
const source = readFileSync(new URL('../docs/openapi.json', import.meta.url), 'utf8')
const config = await createConfig({ extends: ['recommended-strict'], rules })
for (const { ruleId, message, location } of await lintFromString({ source, config })) {
  console.error(`${ruleId} ${location[0]?.pointer ?? ''}: ${message}`)
  process.exitCode = 1
}
