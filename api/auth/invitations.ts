import { Bool, Email, Instant, Nullable, Obj, Opt, Text, Uuid, Words } from '../../config/schema.ts'
import { hashPassword, acceptInvitation, assertAccount, readInvitation, assertStrong } from '../../db/auth/index.ts'
import { open } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { bounded, Password } from './given-password.ts'

const Token = Text(1, 200)

const preview = route({
  id: 'invitations.preview',
  method: 'POST',
  path: '/api/auth/invitations/preview',
  summary: 'Show what an invitation offers',
  access: open(),
  rate: 'sign_in',
  idempotency: 'off',
  readOnly: true,
  errors: ['token_invalid', 'tenant_suspended'],
  body: Obj({ token: Token }),
  example: { token: 'a-token-from-the-mail' },
  returns: Obj({
    tenantName: Text(1, 120),
    email: Email,
    role: Text(1, 40),
    inviterName: Nullable(Text(1, 120)),
    expiresAt: Instant,
    accountExists: Bool,
  }),
  handle: ({ trx, body: { token } }) => readInvitation(trx, token),
})

const accept = route({
  id: 'invitations.accept',
  method: 'POST',
  path: '/api/auth/invitations/accept',
  summary: 'Accept an invitation and verify the e-mail address',
  description: 'Who has no account gives name and password; who has one gives neither. Sign in afterwards.',
  access: open(),
  rate: 'sign_in',
  transaction: 'none',
  errors: ['token_invalid', 'password_too_weak', 'hashing_busy', 'tenant_suspended'],
  body: Obj({ token: Token, name: Opt(Words(1, 120)), password: Opt(Password) }),
  example: { token: 'a-token-from-the-mail', name: 'Ana Souza', password: 'mar azul e vento norte' },
  returns: Obj({ tenantId: Uuid, email: Email }),
  handle: async ({ open: transaction, body: { token, name, password } }) => {
    const offer = await transaction((trx) => readInvitation(trx, token))
    assertAccount(offer.accountExists, { name: name !== undefined, password: password !== undefined })
    if (name === undefined || password === undefined) return transaction((trx) => acceptInvitation(trx, token, null))
    bounded('password', password)
    await assertStrong(password, offer.email)
    const hash = await hashPassword(password)
    return transaction((trx) => acceptInvitation(trx, token, { name, hash }))
  },
})

export const routes = [preview, accept]
