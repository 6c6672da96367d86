# What both manual pages share: a text as roff prints it.
function roff(text)
{
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/'/, "\\(aq", text)
    gsub(/`/, "\\(ga", text)
    gsub(/…/, "...", text)
    gsub(/×/, "\\(mu", text)
    sub(/^\./, "\\\\\\&.", text)
    return text
}
