import type { MailedTokenPurpose } from './derived-secrets.ts'

/** Acts about which the owner of an account is told. */
export type SecurityAct =
  | 'password_changed'
  | 'password_reset'
  | 'email_changed'
  | 'mfa_enabled'
  | 'mfa_disabled'
  | 'mfa_reset'
  | 'recovery_codes_renewed'
  | 'recovery_code_used'
  | 'session_reused'
  | 'failures_over_limit'

type Words = {
  name: string
  house: string
  way: string
  /** Name of an expiring API key, and the day. */
  key: string
  day: string
  /** Host of a webhook endpoint. */
  host: string
  /** Sum of a dispute or payout, name of a gateway account, or number of an issue. */
  label: string
  /** The act that a security notice is about; null in mails of earlier releases. */
  act: SecurityAct | null
  at: Date
  /** Address of the client; null where it is not told. */
  address: string | null
  /** An amount of money with its currency. */
  amount: string
}
type Mail = { subject: (words: Words) => string; text: (words: Words) => string }

/** Built-in mails to staff. `token` kinds refer to a OneTimeToken; the worker derives the token from its id. */
export const userMailKinds = {
  invitation: { token: 'invitation' },
  password_reset: { token: 'password_reset' },
  email_change: { token: 'email_change' },
  email_notice: { token: null },
  security_notice: { token: null },
  key_expiring: { token: null },
  webhook_failing: { token: null },
  webhook_paused: { token: null },
  finance_dispute: { token: null },
  finance_payout: { token: null },
  finance_account: { token: null },
  issue_notice: { token: null },
  report_ready: { token: null },
  approval_waiting: { token: null },
  bank_details_changed: { token: null },
  pix_connection_changed: { token: null },
  tenant_suspended: { token: null },
  tenant_deletion_planned: { token: null },
  support_session: { token: null },
  subscription_invoice: { token: null },
  subscription_payment_failed: { token: null },
  subscription_overdue: { token: null },
  add_on_price: { token: null },
  tenant_export: { token: null },
} as const satisfies Record<string, { token: MailedTokenPurpose | null }>

export type UserMailKind = keyof typeof userMailKinds

/** The instant in a language, in UTC: users have no time zone. */
const moment = (locale: string, at: Date): string =>
  `${new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(at)} (UTC)`

const englishActs: Record<SecurityAct, string> = {
  password_changed: 'your password was changed',
  password_reset: 'a new password was set by a link that we mailed',
  email_changed: 'your e-mail address was changed',
  mfa_enabled: 'two-step sign-in was switched on',
  mfa_disabled: 'two-step sign-in was switched off',
  mfa_reset: 'an administrator removed your second factor',
  recovery_codes_renewed: 'new recovery codes were made; the old ones no longer work',
  recovery_code_used: 'a recovery code was used to sign in',
  session_reused: 'a token of your session was used twice, so the session was ended: somebody may have copied it',
  failures_over_limit: 'many sign-ins with a wrong password failed in a day',
}
const portugueseActs: Record<SecurityAct, string> = {
  password_changed: 'sua senha foi alterada',
  password_reset: 'uma nova senha foi definida por um link que enviamos',
  email_changed: 'seu e-mail foi alterado',
  mfa_enabled: 'a verificação em duas etapas foi ativada',
  mfa_disabled: 'a verificação em duas etapas foi desativada',
  mfa_reset: 'um administrador removeu seu segundo fator',
  recovery_codes_renewed: 'novos códigos de recuperação foram criados; os antigos não valem mais',
  recovery_code_used: 'um código de recuperação foi usado para entrar',
  session_reused: 'um token da sua sessão foi usado duas vezes, e a sessão foi encerrada: alguém pode tê-lo copiado',
  failures_over_limit: 'muitas tentativas de entrar com senha errada falharam em um dia',
}
const spanishActs: Record<SecurityAct, string> = {
  password_changed: 'se cambió su contraseña',
  password_reset: 'se estableció una contraseña nueva con un enlace que enviamos',
  email_changed: 'se cambió su correo',
  mfa_enabled: 'se activó la verificación en dos pasos',
  mfa_disabled: 'se desactivó la verificación en dos pasos',
  mfa_reset: 'un administrador quitó su segundo factor',
  recovery_codes_renewed: 'se crearon códigos de recuperación nuevos; los anteriores ya no valen',
  recovery_code_used: 'se usó un código de recuperación para entrar',
  session_reused: 'un token de su sesión se usó dos veces y la sesión se cerró: alguien puede haberlo copiado',
  failures_over_limit: 'muchos intentos de entrar con una contraseña errónea fallaron en un día',
}

const english: Record<UserMailKind, Mail> = {
  invitation: {
    subject: ({ house }) => `You are invited to ${house}`,
    text: ({ name, house, way }) =>
      `Hello ${name},\n\nyou are invited to work with ${house} in Pousada. To accept, within 7 days:\n\n${way}\n\nIf you did not expect this, ignore it: nothing happens.`,
  },
  password_reset: {
    subject: () => 'Set a new password',
    text: ({ name, way }) =>
      `Hello ${name},\n\nsomebody asked to set a new password for your account. To do so, within 30 minutes:\n\n${way}\n\nIf it was not you, ignore this: your password stays as it is.`,
  },
  email_change: {
    subject: () => 'Confirm your new e-mail address',
    text: ({ name, way }) =>
      `Hello ${name},\n\nthis address is to become the one of your account. To confirm, within an hour:\n\n${way}\n\nIf it was not you, ignore this.`,
  },
  email_notice: {
    subject: () => 'Your e-mail address is about to change',
    text: ({ name }) =>
      `Hello ${name},\n\nsomebody who is signed in to your account asked to give it another e-mail address. It changes once that address is confirmed.\n\nIf it was you, there is nothing to do. If not, set a new password at once: this ends all sessions, and the request.`,
  },
  security_notice: {
    subject: () => 'The security of your account was changed',
    text: ({ name, act, at, address }) =>
      `Hello ${name},\n\n${act === null ? 'the password, the second factor or the e-mail address of your account was changed' : englishActs[act]}.\n\nWhen: ${moment('en-GB', at)}${address === null ? '' : `\nFrom: ${address}`}\n\nIf it was you, there is nothing to do. If not, set a new password at once and end all sessions.`,
  },
  key_expiring: {
    subject: ({ house }) => `An API key of ${house} expires soon`,
    text: ({ name, house, key, day }) =>
      `Hello ${name},\n\nthe API key "${key}" of ${house} expires on ${day}. Rotate it before, so that what uses it goes on working.`,
  },
  webhook_failing: {
    subject: ({ house }) => `A webhook endpoint of ${house} does not answer`,
    text: ({ name, house, host, day }) =>
      `Hello ${name},\n\nthe webhook endpoint of ${house} at ${host} has taken no event since ${day}. We go on trying. After three days without a success it is paused; what it missed can then be sent again.`,
  },
  webhook_paused: {
    subject: ({ house }) => `A webhook endpoint of ${house} was paused`,
    text: ({ name, house, host, day }) =>
      `Hello ${name},\n\nthe webhook endpoint of ${house} at ${host} has taken no event since ${day} and was paused. Once it works again, resume it; you can have what it missed sent again.`,
  },
  finance_dispute: {
    subject: ({ house, label }) => `A payment to ${house} is disputed: ${label}`,
    text: ({ name, house, label, day }) =>
      `Hello ${name},\n\na cardholder disputes a payment of ${label} to ${house}.${day === '' ? '' : ` It can be answered until ${day}; without an answer it is lost.`} You find it among the disputes.`,
  },
  finance_payout: {
    subject: ({ house, label }) => `A payout to ${house} failed: ${label}`,
    text: ({ name, house, label }) =>
      `Hello ${name},\n\nthe bank did not take a payout of ${label} to ${house}. Please check the bank account at the gateway.`,
  },
  finance_account: {
    subject: ({ house, label }) => `The gateway account ${label} of ${house} is restricted`,
    text: ({ name, house, label }) =>
      `Hello ${name},\n\nthe gateway has restricted the account ${label} of ${house}: charges or payouts are off. The account lists what the gateway wants to know.`,
  },
  issue_notice: {
    subject: ({ house, label }) => `${house}: issue ${label} needs you`,
    text: ({ name, house, label }) =>
      `Hello ${name},\n\nissue ${label} of ${house} was raised to your level. Please look at it: open issues are listed with the nearest deadline first.`,
  },
  report_ready: {
    subject: ({ house, label }) => `${house}: ${label} is ready`,
    text: ({ name, house, label, way }) =>
      `Hello ${name},\n\nthe report “${label}” of ${house} is ready. It is kept for 30 days:\n\n${way}`,
  },
  approval_waiting: {
    subject: ({ house }) => `${house}: a document waits for your approval`,
    text: ({ name, house, amount }) =>
      `Hello ${name},\n\na document of ${house}${amount === '' ? '' : ` over ${amount}`} waits for your approval.`,
  },
  pix_connection_changed: {
    subject: ({ house, key }) => `${house}: Pix of ${key}`,
    text: ({ name, house, key }) =>
      `Hello ${name},\n\nthe Pix keys or the bank connection of the account ${key} of ${house} were changed. If you did not expect this, look at the account at once, and ask who changed it.`,
  },
  bank_details_changed: {
    subject: ({ house }) => `${house}: bank details of a supplier`,
    text: ({ name, house, key }) =>
      `Hello ${name},\n\nbank details of the supplier ${key} of ${house} were proposed, or decided on. If you did not expect this, ask the supplier by a number that you know.`,
  },
  tenant_suspended: {
    subject: ({ house }) => `${house} is suspended`,
    text: ({ name, house, day }) =>
      `Hello ${name},\n\nthe use of Pousada by ${house} was suspended on ${day}. Data stay as they are. Bills can still be read and paid. Write to us to have it opened again.`,
  },
  tenant_deletion_planned: {
    subject: ({ house }) => `The data of ${house} will be deleted`,
    text: ({ name, house, day }) =>
      `Hello ${name},\n\nthe data of ${house} in Pousada will be deleted after ${day}. Until then we can take it back: write to us if this is a mistake.`,
  },
  support_session: {
    subject: ({ house }) => `Our support is looking at ${house}`,
    text: ({ name, house, day }) =>
      `Hello ${name},\n\na member of our support entered ${house} on ${day}. The session ends by itself within an hour; all that is done in it stands in your audit trail. In the settings of your organisation you can allow or forbid such sessions.`,
  },
  subscription_invoice: {
    subject: ({ house, key }) => `Invoice ${key} of ${house}`,
    text: ({ name, house, key, day, amount }) =>
      `Hello ${name},\n\ninvoice ${key} for ${house} is ready: ${amount}, due on ${day}. You find it with its lines under billing.`,
  },
  subscription_payment_failed: {
    subject: ({ key }) => `Invoice ${key} could not be charged`,
    text: ({ name, house, key, day, amount }) =>
      `Hello ${name},\n\nthe payment of invoice ${key} of ${house} failed: ${amount}, due on ${day}. Please give another means of payment under billing; we try again in the next days.`,
  },
  subscription_overdue: {
    subject: ({ key }) => `Invoice ${key} is overdue`,
    text: ({ name, house, key, day, amount }) =>
      `Hello ${name},\n\ninvoice ${key} of ${house} was due on ${day} and is not paid yet: ${amount}. Please pay it, or give another means of payment under billing.`,
  },
  add_on_price: {
    subject: ({ house }) => `A price of ${house} changes`,
    text: ({ name, house, key, day }) =>
      `Hello ${name},\n\nthe price of the add-on ${key} changes for ${house} with the first billing period that begins after ${day}. You can cancel it at any time, without penalty.`,
  },
  tenant_export: {
    subject: ({ house }) => `The data of ${house} were exported`,
    text: ({ name, house, day }) =>
      `Hello ${name},\n\nour staff asked on ${day} for an export of all data of ${house}. If you do not know why, write to us.`,
  },
}

const portuguese: Record<UserMailKind, Mail> = {
  invitation: {
    subject: ({ house }) => `Você foi convidado para ${house}`,
    text: ({ name, house, way }) =>
      `Olá, ${name},\n\nvocê foi convidado para trabalhar com ${house} no Pousada. Para aceitar, em até 7 dias:\n\n${way}\n\nSe não esperava por isto, ignore: nada acontece.`,
  },
  password_reset: {
    subject: () => 'Defina uma nova senha',
    text: ({ name, way }) =>
      `Olá, ${name},\n\nalguém pediu uma nova senha para sua conta. Para defini-la, em até 30 minutos:\n\n${way}\n\nSe não foi você, ignore: sua senha continua a mesma.`,
  },
  email_change: {
    subject: () => 'Confirme seu novo e-mail',
    text: ({ name, way }) =>
      `Olá, ${name},\n\neste endereço passará a ser o da sua conta. Para confirmar, em até uma hora:\n\n${way}\n\nSe não foi você, ignore.`,
  },
  email_notice: {
    subject: () => 'Seu e-mail está prestes a mudar',
    text: ({ name }) =>
      `Olá, ${name},\n\nalguém que entrou na sua conta pediu para trocar o e-mail dela. A troca vale quando o novo endereço for confirmado.\n\nSe foi você, não precisa fazer nada. Se não, defina uma nova senha imediatamente: isso encerra todas as sessões e o pedido.`,
  },
  security_notice: {
    subject: () => 'A segurança da sua conta foi alterada',
    text: ({ name, act, at, address }) =>
      `Olá, ${name},\n\n${act === null ? 'a senha, o segundo fator ou o e-mail da sua conta foi alterado' : portugueseActs[act]}.\n\nQuando: ${moment('pt-BR', at)}${address === null ? '' : `\nDe: ${address}`}\n\nSe foi você, não precisa fazer nada. Se não, defina uma nova senha imediatamente e encerre todas as sessões.`,
  },
  key_expiring: {
    subject: ({ house }) => `Uma chave de API de ${house} vence em breve`,
    text: ({ name, house, key, day }) =>
      `Olá, ${name},\n\na chave de API "${key}" de ${house} vence em ${day}. Substitua-a antes, para que nada pare de funcionar.`,
  },
  webhook_failing: {
    subject: ({ house }) => `Um endpoint de webhook de ${house} não responde`,
    text: ({ name, house, host, day }) =>
      `Olá, ${name},\n\no endpoint de webhook de ${house} em ${host} não recebe eventos desde ${day}. Continuamos tentando. Após três dias sem sucesso ele é pausado; o que perdeu pode ser enviado de novo.`,
  },
  webhook_paused: {
    subject: ({ house }) => `Um endpoint de webhook de ${house} foi pausado`,
    text: ({ name, house, host, day }) =>
      `Olá, ${name},\n\no endpoint de webhook de ${house} em ${host} não recebe eventos desde ${day} e foi pausado. Quando voltar a funcionar, retome-o; o que perdeu pode ser enviado de novo.`,
  },
  finance_dispute: {
    subject: ({ house, label }) => `Um pagamento a ${house} foi contestado: ${label}`,
    text: ({ name, house, label, day }) =>
      `Olá, ${name},\n\no titular de um cartão contesta um pagamento de ${label} a ${house}.${day === '' ? '' : ` É possível responder até ${day}; sem resposta, a contestação é perdida.`} Ela está entre as contestações.`,
  },
  finance_payout: {
    subject: ({ house, label }) => `Um repasse a ${house} falhou: ${label}`,
    text: ({ name, house, label }) =>
      `Olá, ${name},\n\no banco não aceitou um repasse de ${label} a ${house}. Verifique a conta bancária cadastrada no gateway.`,
  },
  finance_account: {
    subject: ({ house, label }) => `A conta ${label} de ${house} no gateway está restrita`,
    text: ({ name, house, label }) =>
      `Olá, ${name},\n\no gateway restringiu a conta ${label} de ${house}: cobranças ou repasses estão desligados. A conta mostra o que o gateway precisa saber.`,
  },
  issue_notice: {
    subject: ({ house, label }) => `${house}: a ocorrência ${label} precisa de você`,
    text: ({ name, house, label }) =>
      `Olá, ${name},\n\na ocorrência ${label} de ${house} foi elevada ao seu nível. Veja-a, por favor: a lista mostra primeiro o prazo mais próximo.`,
  },
  report_ready: {
    subject: ({ house, label }) => `${house}: ${label} está pronto`,
    text: ({ name, house, label, way }) =>
      `Olá, ${name},\n\no relatório “${label}” de ${house} está pronto. Fica guardado por 30 dias:\n\n${way}`,
  },
  approval_waiting: {
    subject: ({ house }) => `${house}: um documento aguarda sua aprovação`,
    text: ({ name, house, amount }) =>
      `Olá, ${name}.\n\nUm documento de ${house}${amount === '' ? '' : ` no valor de ${amount}`} aguarda sua aprovação.`,
  },
  pix_connection_changed: {
    subject: ({ house, key }) => `${house}: Pix da conta ${key}`,
    text: ({ name, house, key }) =>
      `Olá ${name},\n\nas chaves Pix ou a conexão bancária da conta ${key} de ${house} foram alteradas. Se você não esperava isso, confira a conta imediatamente e pergunte quem fez a alteração.`,
  },
  bank_details_changed: {
    subject: ({ house }) => `${house}: dados bancários de um fornecedor`,
    text: ({ name, house, key }) =>
      `Olá, ${name}.\n\nDados bancários do fornecedor ${key} de ${house} foram propostos ou decididos. Se não esperava por isso, confirme com o fornecedor por um telefone que já conhece.`,
  },
  tenant_suspended: {
    subject: ({ house }) => `${house} está suspensa`,
    text: ({ name, house, day }) =>
      `Olá, ${name},\n\no uso do Pousada por ${house} foi suspenso em ${day}. Os dados continuam como estão. As faturas ainda podem ser vistas e pagas. Escreva para nós para reabrir.`,
  },
  tenant_deletion_planned: {
    subject: ({ house }) => `Os dados de ${house} serão apagados`,
    text: ({ name, house, day }) =>
      `Olá, ${name},\n\nos dados de ${house} no Pousada serão apagados depois de ${day}. Até lá podemos voltar atrás: escreva para nós se isto for um engano.`,
  },
  support_session: {
    subject: ({ house }) => `Nosso suporte está em ${house}`,
    text: ({ name, house, day }) =>
      `Olá, ${name},\n\numa pessoa do nosso suporte entrou em ${house} em ${day}. A sessão termina sozinha em até uma hora; tudo o que for feito fica na sua trilha de auditoria. Nas configurações da sua organização você pode permitir ou proibir essas sessões.`,
  },
  subscription_invoice: {
    subject: ({ house, key }) => `Fatura ${key} de ${house}`,
    text: ({ name, house, key, day, amount }) =>
      `Olá, ${name},\n\na fatura ${key} de ${house} está pronta: ${amount}, com vencimento em ${day}. Ela está, com suas linhas, na cobrança.`,
  },
  subscription_payment_failed: {
    subject: ({ key }) => `A fatura ${key} não pôde ser cobrada`,
    text: ({ name, house, key, day, amount }) =>
      `Olá, ${name},\n\no pagamento da fatura ${key} de ${house} falhou: ${amount}, com vencimento em ${day}. Informe outro meio de pagamento na cobrança; tentaremos de novo nos próximos dias.`,
  },
  subscription_overdue: {
    subject: ({ key }) => `A fatura ${key} está vencida`,
    text: ({ name, house, key, day, amount }) =>
      `Olá, ${name},\n\na fatura ${key} de ${house} venceu em ${day} e ainda não foi paga: ${amount}. Pague-a ou informe outro meio de pagamento na cobrança.`,
  },
  add_on_price: {
    subject: ({ house }) => `Um preço de ${house} muda`,
    text: ({ name, house, key, day }) =>
      `Olá, ${name},\n\no preço do adicional ${key} muda para ${house} no primeiro período de cobrança que começar depois de ${day}. Você pode cancelá-lo a qualquer momento, sem multa.`,
  },
  tenant_export: {
    subject: ({ house }) => `Os dados de ${house} foram exportados`,
    text: ({ name, house, day }) =>
      `Olá, ${name},\n\nnossa equipe pediu em ${day} uma exportação de todos os dados de ${house}. Se não souber o motivo, escreva para nós.`,
  },
}

const spanish: Record<UserMailKind, Mail> = {
  invitation: {
    subject: ({ house }) => `Le invitan a ${house}`,
    text: ({ name, house, way }) =>
      `Hola, ${name}:\n\nle invitan a trabajar con ${house} en Pousada. Para aceptar, en 7 días:\n\n${way}\n\nSi no lo esperaba, ignórelo: no pasa nada.`,
  },
  password_reset: {
    subject: () => 'Establezca una contraseña nueva',
    text: ({ name, way }) =>
      `Hola, ${name}:\n\nalguien pidió una contraseña nueva para su cuenta. Para establecerla, en 30 minutos:\n\n${way}\n\nSi no fue usted, ignórelo: su contraseña sigue igual.`,
  },
  email_change: {
    subject: () => 'Confirme su nuevo correo',
    text: ({ name, way }) =>
      `Hola, ${name}:\n\nesta dirección será la de su cuenta. Para confirmarla, en una hora:\n\n${way}\n\nSi no fue usted, ignórelo.`,
  },
  email_notice: {
    subject: () => 'Su correo está a punto de cambiar',
    text: ({ name }) =>
      `Hola, ${name}:\n\nalguien que entró en su cuenta pidió cambiar su correo. El cambio vale cuando se confirme la nueva dirección.\n\nSi fue usted, no tiene que hacer nada. Si no, establezca una contraseña nueva de inmediato: eso cierra todas las sesiones y anula la petición.`,
  },
  security_notice: {
    subject: () => 'La seguridad de su cuenta ha cambiado',
    text: ({ name, act, at, address }) =>
      `Hola, ${name}:\n\n${act === null ? 'la contraseña, el segundo factor o el correo de su cuenta ha cambiado' : spanishActs[act]}.\n\nCuándo: ${moment('es', at)}${address === null ? '' : `\nDesde: ${address}`}\n\nSi fue usted, no tiene que hacer nada. Si no, establezca una contraseña nueva de inmediato y cierre todas las sesiones.`,
  },
  key_expiring: {
    subject: ({ house }) => `Una clave de API de ${house} caduca pronto`,
    text: ({ name, house, key, day }) =>
      `Hola, ${name}:\n\nla clave de API "${key}" de ${house} caduca el ${day}. Sustitúyala antes, para que lo que la usa siga funcionando.`,
  },
  webhook_failing: {
    subject: ({ house }) => `Un endpoint de webhook de ${house} no responde`,
    text: ({ name, house, host, day }) =>
      `Hola, ${name}:\n\nel endpoint de webhook de ${house} en ${host} no recibe eventos desde el ${day}. Seguimos intentando. Tras tres días sin éxito se pausa; lo que perdió puede enviarse de nuevo.`,
  },
  webhook_paused: {
    subject: ({ house }) => `Un endpoint de webhook de ${house} se ha pausado`,
    text: ({ name, house, host, day }) =>
      `Hola, ${name}:\n\nel endpoint de webhook de ${house} en ${host} no recibe eventos desde el ${day} y se ha pausado. Cuando vuelva a funcionar, reanúdelo; lo que perdió puede enviarse de nuevo.`,
  },
  finance_dispute: {
    subject: ({ house, label }) => `Un pago a ${house} está en disputa: ${label}`,
    text: ({ name, house, label, day }) =>
      `Hola, ${name}:\n\nel titular de una tarjeta disputa un pago de ${label} a ${house}.${day === '' ? '' : ` Puede responderse hasta el ${day}; sin respuesta, se pierde.`} Está entre las disputas.`,
  },
  finance_payout: {
    subject: ({ house, label }) => `Un pago del gateway a ${house} ha fallado: ${label}`,
    text: ({ name, house, label }) =>
      `Hola, ${name}:\n\nel banco no aceptó un pago de ${label} a ${house}. Compruebe la cuenta bancaria en el gateway.`,
  },
  finance_account: {
    subject: ({ house, label }) => `La cuenta ${label} de ${house} en el gateway está restringida`,
    text: ({ name, house, label }) =>
      `Hola, ${name}:\n\nel gateway ha restringido la cuenta ${label} de ${house}: los cobros o los pagos están desactivados. La cuenta muestra lo que el gateway necesita saber.`,
  },
  issue_notice: {
    subject: ({ house, label }) => `${house}: la incidencia ${label} le necesita`,
    text: ({ name, house, label }) =>
      `Hola, ${name}:\n\nla incidencia ${label} de ${house} se elevó a su nivel. Véala, por favor: la lista muestra primero el plazo más cercano.`,
  },
  report_ready: {
    subject: ({ house, label }) => `${house}: ${label} está listo`,
    text: ({ name, house, label, way }) =>
      `Hola, ${name}:\n\nel informe «${label}» de ${house} está listo. Se conserva 30 días:\n\n${way}`,
  },
  approval_waiting: {
    subject: ({ house }) => `${house}: un documento espera su aprobación`,
    text: ({ name, house, amount }) =>
      `Hola, ${name}:\n\nUn documento de ${house}${amount === '' ? '' : ` por ${amount}`} espera su aprobación.`,
  },
  pix_connection_changed: {
    subject: ({ house, key }) => `${house}: Pix de la cuenta ${key}`,
    text: ({ name, house, key }) =>
      `Hola ${name}:\n\nse cambiaron las claves Pix o la conexión bancaria de la cuenta ${key} de ${house}. Si no lo esperaba, revise la cuenta de inmediato y pregunte quién hizo el cambio.`,
  },
  bank_details_changed: {
    subject: ({ house }) => `${house}: datos bancarios de un proveedor`,
    text: ({ name, house, key }) =>
      `Hola, ${name}:\n\nSe propusieron o decidieron datos bancarios del proveedor ${key} de ${house}. Si no lo esperaba, pregunte al proveedor por un número que ya conozca.`,
  },
  tenant_suspended: {
    subject: ({ house }) => `${house} está suspendida`,
    text: ({ name, house, day }) =>
      `Hola, ${name}:\n\nel uso de Pousada por ${house} se suspendió el ${day}. Los datos siguen como están. Las facturas aún se pueden ver y pagar. Escríbanos para volver a abrirla.`,
  },
  tenant_deletion_planned: {
    subject: ({ house }) => `Los datos de ${house} se borrarán`,
    text: ({ name, house, day }) =>
      `Hola, ${name}:\n\nlos datos de ${house} en Pousada se borrarán después del ${day}. Hasta entonces podemos deshacerlo: escríbanos si es un error.`,
  },
  support_session: {
    subject: ({ house }) => `Nuestro soporte está en ${house}`,
    text: ({ name, house, day }) =>
      `Hola, ${name}:\n\nuna persona de nuestro soporte entró en ${house} el ${day}. La sesión termina sola en una hora como máximo; todo lo que se haga queda en su registro de auditoría. En los ajustes de su organización puede permitir o prohibir estas sesiones.`,
  },
  subscription_invoice: {
    subject: ({ house, key }) => `Factura ${key} de ${house}`,
    text: ({ name, house, key, day, amount }) =>
      `Hola, ${name}:\n\nla factura ${key} de ${house} está lista: ${amount}, con vencimiento el ${day}. La encontrará con sus líneas en la facturación.`,
  },
  subscription_payment_failed: {
    subject: ({ key }) => `No se pudo cobrar la factura ${key}`,
    text: ({ name, house, key, day, amount }) =>
      `Hola, ${name}:\n\nel pago de la factura ${key} de ${house} falló: ${amount}, con vencimiento el ${day}. Indique otro medio de pago en la facturación; lo intentaremos de nuevo en los próximos días.`,
  },
  subscription_overdue: {
    subject: ({ key }) => `La factura ${key} está vencida`,
    text: ({ name, house, key, day, amount }) =>
      `Hola, ${name}:\n\nla factura ${key} de ${house} venció el ${day} y aún no está pagada: ${amount}. Páguela o indique otro medio de pago en la facturación.`,
  },
  add_on_price: {
    subject: ({ house }) => `Un precio de ${house} cambia`,
    text: ({ name, house, key, day }) =>
      `Hola, ${name}:\n\nel precio del complemento ${key} cambia para ${house} con el primer período de facturación que empiece después del ${day}. Puede cancelarlo en cualquier momento, sin penalización.`,
  },
  tenant_export: {
    subject: ({ house }) => `Se exportaron los datos de ${house}`,
    text: ({ name, house, day }) =>
      `Hola, ${name}:\n\nnuestro equipo pidió el ${day} una exportación de todos los datos de ${house}. Si no sabe por qué, escríbanos.`,
  },
}

const languages: Record<string, Record<UserMailKind, Mail>> = { en: english, pt: portuguese, es: spanish }

// Names of people, properties and keys are user input: they stay on one line.
const line = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
const oneLine = ({ name, house, key, host, label, ...words }: Words): Words => ({
  ...words,
  name: line(name),
  house: line(house),
  key: line(key),
  host: line(host),
  label: line(label),
})

/** Subject and text of a mail in the user's language, else English. */
export const writeUserMail = (kind: UserMailKind, locale: string, words: Words): { subject: string; text: string } => {
  const { subject, text } = (languages[locale.split('-')[0] ?? ''] ?? english)[kind]
  const clean = oneLine(words)
  return { subject: subject(clean), text: `${text(clean)}\n\nPousada\n` }
}
