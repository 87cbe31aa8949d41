import { expect } from 'chai'
import { cardFields } from '../../api/lib/cards.ts'
import { routes } from '../../api/routes.ts'
import { isCardNumber } from '../../config/card-numbers.ts'

type Json = Record<string, unknown>

/** Files, keys and secrets, accounts at banks, and ids that other systems give: digits of their own, which may be those of a card by chance. */
const others =
  `authToken brCode branch certificatePem clientId clientSecret content data externalId externalPropertyId externalRatePlanId
  externalUnitTypeId image key number password privateKeyPem secret url user`.split(/\s+/)

describe('the number of a card', () => {
  it('is no number of a paper and no reference, alone or with words beside it; longer numbers pass', () => {
    const card = '4111 1111 1111 1111'
    for (const text of [card, card.replaceAll(' ', ''), `Visa ${card}`, `${card} Visa`, `card: ${card}`])
      expect(isCardNumber(text), text).to.equal(true)
    for (const text of ['11.222.333/0001-81', '529.982.247-25', 'A4111111111111111', `${card} 2222`, 'TED 4711'])
      expect(isCardNumber(text), text).to.equal(false)
  })

  it('is taken by no text that a person writes', () => {
    const card = '4111111111111111'
    const taking = new Set<string>()
    const visit = (schema: Json | undefined, name: string) => {
      if (schema === undefined) return
      for (const option of (schema['anyOf'] ?? []) as Json[]) visit(option, name)
      for (const [field, inner] of Object.entries((schema['properties'] ?? {}) as Record<string, Json>))
        visit(inner, field)
      visit(schema['items'] as Json | undefined, name)
      const { type, pattern, format, maxLength } = schema as { [key: string]: string } & { maxLength: number }
      const fits = maxLength >= card.length && format === undefined && !('enum' in schema)
      const isOpen = type === 'string' && fits && new RegExp(pattern ?? '', 'u').test(card)
      if (isOpen && cardFields(schema, card).length === 0) taking.add(name)
    }
    for (const { body, bodyFormat } of routes)
      if (bodyFormat !== 'raw') visit(JSON.parse(JSON.stringify(body ?? {})) as Json, '')
    expect([...taking].toSorted((one, other) => (one < other ? -1 : 1))).to.deep.equal(others)
  })
})
