import { contextOf, prepared, preparedOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { ruleFor } from '../rules/match-rules.ts'
import type { MatchRule } from '../rules/match-rules.ts'
import { plainWords } from '../rules/statement-text.ts'
import { statementTargets } from './targets.ts'
import type { StatementTargetName } from './targets.ts'

/** A line whose matches are looked for. */
export type OpenLine = {
  id: string
  cashAccountId: string
  bookedOn: string
  amount: number
  text: string
  externalId: string | null
  documentNumber: string | null
  endToEndId: string | null
  counterpartyDocument: string | null
}

/** A possible target of a line, to be sent back as it stands; the higher the score, the likelier. */
export type Suggestion = {
  score: number
  kind: 'movement' | StatementTargetName | 'rule'
  /** The movement, payout or installment; null of a rule. */
  id: string | null
  amount: number
  /** The end-to-end id or txid is that of the line, and the amount is another. */
  amountDiffers: boolean
  date: string | null
  words: string
  /** Of a rule: what would be booked. */
  book: { accountId: string; costCenterId: string | null; amount: number; description: string } | null
}

const most = 5
const least = 60
const perKind = 8

type Candidate = {
  lineId: string
  kind: 'movement' | StatementTargetName
  id: string
  amount: number
  date: string
  words: string
  certain: boolean
  days: number
}

const near = `abs(l.booked_on - c.date)`

/** Ids of charges that a line may name: words as long as ours are, however the bank writes their letters. */
const txidsOf = ({ externalId, documentNumber, text }: OpenLine): string[] => {
  const words = `${externalId ?? ''} ${documentNumber ?? ''} ${text}`.split(/[^A-Za-z0-9]+/)
  return words.filter(({ length }) => length >= 25 && length <= 35).flatMap((word) => [word, word.toLowerCase()])
}

/** Open movements of the account that match a condition about a line `l`, as many as asked for, with the part of them that is open. */
const movementsWhere = (condition: string, certain: boolean, order: string) =>
  `(select m.id, m.amount - sign(m.amount)::bigint * m.matched as amount, m.booked_on as date, m.description || ' ' || m.voucher as words, ${certain} as certain
    from cash_movement m
    where m.tenant_id = :tenantId and m.cash_account_id = :accountId and m.matched < abs(m.amount)
      and m.kind not in ('opening', 'reversal') and ${condition}
      and not exists (select from cash_movement r where r.tenant_id = m.tenant_id and r.reverses_id = m.id) ${order} limit ${perKind})`

/** Of the amount of a line: all of it is open. */
const ofAmount = `m.matched = 0 and m.amount = l.amount`
/** Named by a line: in the same direction, whatever the amount; equal ones first. */
const named = `sign(m.amount) = sign(l.amount)`
const equalFirst = `order by abs(m.amount - l.amount), m.booked_on desc, m.id`

/** Open movements of the account for each line: those of its amount nearest before and after it, and those whose end-to-end id or txid it names. */
const movementsFor = (trx: Trx, accountId: string, lines: readonly OpenLine[]): Promise<Candidate[]> =>
  prepared<Candidate>(
    trx,
    `select l.id as line_id, 'movement' as kind, c.id, c.amount, c.date, c.words, c.certain, ${near} as days
     from jsonb_to_recordset(cast(:lines as jsonb)) as l (id uuid, amount bigint, booked_on date, e2e text, txids text[])
     cross join lateral (
       ${movementsWhere(`${ofAmount} and m.booked_on <= l.booked_on`, false, 'order by m.booked_on desc, m.id')}
       union all
       ${movementsWhere(`${ofAmount} and m.booked_on > l.booked_on`, false, 'order by m.booked_on, m.id')}
       union all
       ${movementsWhere(`m.end_to_end_id = l.e2e and ${named}`, true, equalFirst)}
       union all
       ${movementsWhere(`m.txid = any(l.txids) and ${named}`, true, equalFirst)}) c`,
    {
      tenantId: contextOf(trx).tenantId,
      accountId,
      lines: JSON.stringify(
        lines.map((line) => ({
          id: line.id,
          amount: line.amount,
          booked_on: line.bookedOn,
          e2e: line.endToEndId,
          txids: txidsOf(line),
        })),
      ),
    },
  )

/** Open records of other modules with the amount of each line. */
const recordsFor = async (trx: Trx, accountId: string, lines: readonly OpenLine[]): Promise<Candidate[]> => {
  const place = await preparedOne<{ bookId: string; currency: string }>(
    trx,
    `select book_id, currency from cash_account where tenant_id = ? and id = ?`,
    [contextOf(trx).tenantId, accountId],
  )
  const values = {
    tenantId: contextOf(trx).tenantId,
    bookId: place?.bookId ?? '',
    currency: place?.currency ?? '',
    accountId,
    lines: JSON.stringify(
      lines.map(({ id, amount, bookedOn }) => ({ id, amount, owed: -amount, booked_on: bookedOn })),
    ),
  }
  const found = [...statementTargets()].map(([kind, { open }]) =>
    prepared<Candidate>(
      trx,
      `select l.id as line_id, '${kind}' as kind, c.id, c.amount, c.date, c.words, false as certain, ${near} as days
       from jsonb_to_recordset(cast(:lines as jsonb)) as l (id uuid, amount bigint, owed bigint, booked_on date)
       join lateral (select x.* from (${open}) x order by abs(x.date - l.booked_on), x.id limit ${perKind}) c on true`,
      values,
    ),
  )
  return (await Promise.all(found)).flat()
}

const wordsOf = (text: string): Set<string> =>
  new Set(
    plainWords(text)
      .split(' ')
      .filter((word) => word.length >= 3),
  )

/** 100 for equal end-to-end ids or txids, also where the amount is another; else 60 for the amount, up to 30 for nearness and 10 for a word of the line (R17). */
const scoreOf = ({ certain, days }: Candidate, words: ReadonlySet<string>, ofLine: ReadonlySet<string>): number => {
  if (certain) return 100
  const isShared = [...words].some((word) => ofLine.has(word))
  return least + Math.max(0, 30 - 3 * Math.min(days, 10)) + (isShared ? 10 : 0)
}

type Words = (text: string) => ReadonlySet<string>

/** Words of texts, each taken apart once: the movements of an account are described alike. */
const wordsOnce = (): Words => {
  const known = new Map<string, ReadonlySet<string>>()
  return (text) => {
    const words = known.get(text) ?? wordsOf(text)
    known.set(text, words)
    return words
  }
}

const suggestionOf = (
  candidate: Candidate,
  line: OpenLine,
  ofLine: ReadonlySet<string>,
  wordsIn: Words,
): Suggestion => {
  const { kind, id, amount, date, words } = candidate
  return {
    score: scoreOf(candidate, wordsIn(words), ofLine),
    kind,
    id,
    amount,
    amountDiffers: candidate.certain && amount !== line.amount,
    date,
    words: words.trim().slice(0, 300),
    book: null,
  }
}

const ofRule = ({ name, then }: MatchRule, line: OpenLine): Suggestion => ({
  score: least,
  kind: 'rule',
  id: null,
  amount: line.amount,
  amountDiffers: false,
  date: null,
  words: name,
  book: {
    accountId: then.accountId,
    costCenterId: then.costCenterId ?? null,
    amount: line.amount,
    description: then.description ?? name,
  },
})

/** Possible targets of each line, likeliest first, five at most. Lines of several accounts are looked for by account. */
export const suggestionsFor = async (trx: Trx, lines: readonly OpenLine[]): Promise<Map<string, Suggestion[]>> => {
  const found = new Map<string, Suggestion[]>()
  for (const accountId of new Set(lines.map((line) => line.cashAccountId))) {
    const own = lines.filter((line) => line.cashAccountId === accountId)
    const [movements, records, account] = await Promise.all([
      movementsFor(trx, accountId, own),
      recordsFor(trx, accountId, own),
      preparedOne<{ matchRules: MatchRule[] }>(
        trx,
        `select match_rules from cash_account where tenant_id = ? and id = ?`,
        [contextOf(trx).tenantId, accountId],
      ),
    ])
    const candidates = new Map<string, Candidate[]>()
    for (const one of [...movements, ...records]) {
      const there = candidates.get(one.lineId)
      if (there) there.push(one)
      else candidates.set(one.lineId, [one])
    }
    const wordsIn = wordsOnce()
    for (const line of own) {
      const best = new Map<string, Suggestion>()
      const ofLine = wordsOf(`${line.text} ${line.documentNumber ?? ''}`)
      for (const candidate of candidates.get(line.id) ?? []) {
        const one = suggestionOf(candidate, line, ofLine, wordsIn)
        const known = best.get(`${one.kind} ${one.id ?? ''}`)
        if (!known || known.score < one.score) best.set(`${one.kind} ${one.id ?? ''}`, one)
      }
      const rule = ruleFor(account?.matchRules ?? [], line)
      const all = [...best.values(), ...(rule ? [ofRule(rule, line)] : [])]
      found.set(
        line.id,
        all
          .toSorted(
            (a, b) =>
              b.score - a.score ||
              Number(a.amountDiffers) - Number(b.amountDiffers) ||
              ((a.id ?? '') < (b.id ?? '') ? -1 : 1),
          )
          .slice(0, most),
      )
    }
  }
  return found
}
