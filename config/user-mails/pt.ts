import { moment } from './kinds.ts'
import type { Mail, SecurityAct, UserMailKind } from './kinds.ts'

const acts: Record<SecurityAct, string> = {
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

export const portuguese: Record<UserMailKind, Mail> = {
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
      `Olá, ${name},\n\n${act === null ? 'a senha, o segundo fator ou o e-mail da sua conta foi alterado' : acts[act]}.\n\nQuando: ${moment('pt-BR', at)}${address === null ? '' : `\nDe: ${address}`}\n\nSe foi você, não precisa fazer nada. Se não, defina uma nova senha imediatamente e encerre todas as sessões.`,
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
  transfer_attention: {
    subject: ({ house, amount }) => `${house}: um Pix de ${amount} sem resposta`,
    text: ({ name, house, key, amount }) =>
      `Olá ${name},\n\nhá dias o banco não informa o que houve com um Pix de ${amount} da conta ${key} de ${house}. Consulte o banco e o extrato da conta antes de pagar de novo.`,
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
