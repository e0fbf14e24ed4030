{# The spellings of a secret, as docs/reading.md describes them. Each value gets the text that all its spellings
   share, as far as SQL can tell. Where it cannot, the value is not compared, and the test fails: nothing is
   taken for different in doubt. #}

{# How many values coincide with others if they are spelt alike, and how many could not be compared. #}
{% macro spellings_of(model, sensitive) %}
  select
    count(*) - count(distinct folded) as spelt_differently,
    coalesce(sum(case when comparable = 1 then 0 else 1 end), 0) as not_compared
  from (
    {{ adapter.dispatch("folded_values", "sievert")(sievert.texts_of(model, sensitive)) }}
  ) as folded_values
{% endmacro %}

{% macro texts_of(model, column) %}
  select distinct cast({{ adapter.quote(column) }} as {{ dbt.type_string() }}) as given
  from {{ model }} where {{ adapter.quote(column) }} is not null
{% endmacro %}

{# DuckDB and Postgres: all rules for texts of these letters, digits and signs. Others are not compared: they may
   be a compatibility form of one of these, or a letter with an accent that Unicode has no single character for. #}
{% macro duckdb__folded_values(texts) %}
  {{ sievert.folded_by_patterns(texts, "nfc_normalize") }}
{% endmacro %}

{% macro postgres__folded_values(texts) %}
  {{ sievert.folded_by_patterns(texts, "normalize") }}
{% endmacro %}

{# Redshift has neither: without this, dbt would take the macro of Postgres. #}
{% macro redshift__folded_values(texts) %}
  {{ sievert.default__folded_values(texts) }}
{% endmacro %}

{% macro folded_by_patterns(texts, compose) %}
  {%- set day -%}[0-9]{1,2}{%- endset -%}
  {%- set midnight -%}([t ]0?0:00(:00([.]0+)?)?( ?(z|[+-]00(:?00)?))?)?{%- endset -%}
  select
    given,
    comparable,
    case
      when plain ~ '^[+-]?([0-9]+([.][0-9]*|,0{0,2})?|[.][0-9]+)$' then
        case when number in ('', '-', '+') then '0' else ltrim(number, '+') end
      when plain ~ '^[0-9]{4}(-{{ day }}-|/{{ day }}/|[.]{{ day }}[.]){{ day }}{{ midnight }}$' then
        one || '-' || lpad(two, 2, '0') || '-' || lpad(three, 2, '0')
      when not plain ~ '^({{ day }}-{{ day }}-|{{ day }}/{{ day }}/|{{ day }}[.]{{ day }}[.])[0-9]{4}{{ midnight }}$' then
        plain
      when lpad(one, 2, '0') = lpad(two, 2, '0') or (lpad(one, 2, '0') <= '12' and lpad(two, 2, '0') > '12') then
        three || '-' || lpad(one, 2, '0') || '-' || lpad(two, 2, '0')
      when lpad(one, 2, '0') > '12' and lpad(two, 2, '0') <= '12' then
        three || '-' || lpad(two, 2, '0') || '-' || lpad(one, 2, '0')
      when lpad(one, 2, '0') <= '12' and lpad(two, 2, '0') <= '12' then
        lpad(one, 2, '0') || separator || lpad(two, 2, '0') || separator || three
      else plain
    end as folded
  from (
    select
      given,
      plain,
      case when plain ~ '^[ -@\[-~¡-§©«¬®°±¶·»¿‘’‚“”„†‡•‰‹›€à-öø-ÿāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįıĵķĸĺļľłńņňŋōŏőœŕŗřśŝşšţťŧũūŭůűųŵŷźżžșțά-ρσ-ώа-џא-תء-يぁ-ゖァ-ヺー一-鿿가-힣]*$' then 1 else 0 end
        as comparable,
      regexp_replace(
        regexp_replace(regexp_replace(plain, '(,0*|[.]0*)$', ''), '([.][0-9]*[1-9])0+$', '\1'),
        '^([+-]?)0+', '\1'
      ) as number,
      split_part(translate(regexp_replace(plain, '[t ].*$', ''), '/.', '--'), '-', 1) as one,
      split_part(translate(regexp_replace(plain, '[t ].*$', ''), '/.', '--'), '-', 2) as two,
      split_part(translate(regexp_replace(plain, '[t ].*$', ''), '/.', '--'), '-', 3) as three,
      regexp_replace(plain, '^[0-9]*([-/.]).*$', '\1') as separator
    from (
      select
        given,
        trim(regexp_replace(replace(replace(replace(replace(lower(
          translate({{ compose }}({{ sievert.visible("given") }}), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')
        ), 'ß', 'ss'), 'ς', 'σ'), 'µ', 'μ'), '…', '...'), ' +', ' ', 'g')) as plain
      from ({{ texts }}) as given_texts
    ) as plain_texts
  ) as parts
{% endmacro %}

{# A text with one kind of blank and of dash, and without characters that show nothing. #}
{% macro visible(text) %}
  {%- set blanks = [9, 10, 11, 12, 13, 28, 29, 30, 31, 133, 160, 5760, 8232, 8233, 8239, 8287, 10240, 12288]
    + range(8192, 8203) | list -%}
  {%- set dashes = [727, 1418, 1470, 8259, 8722, 11799, 11802, 11834, 11835, 11840, 12316, 12336, 12448]
    + range(8208, 8214) | list -%}
  {%- set invisible = range(1, 9) | list + range(14, 28) | list + range(127, 133) | list + range(134, 160) | list
    + [173, 847] + range(8203, 8208) | list + range(8234, 8239) | list + range(8288, 8293) | list
    + range(8294, 8304) | list + [65279] -%}
  translate(
    {{ text }},
    {% for code in blanks + dashes + invisible %}{{ " || " if not loop.first }}chr({{ code }}){% endfor %},
    repeat(' ', {{ blanks | length }}) || repeat('-', {{ dashes | length }})
  )
{% endmacro %}

{# Other databases: case and blanks at the ends. Not compared is what has other characters than those of ASCII, two
   blanks in a row, and what looks like a number or a date but is no whole number and no day such as 1999-12-31. #}
{% macro default__folded_values(texts) %}
  {%- set letters = "abcdefghijklmnopqrstuvwxyz" | list -%}
  {%- set digits = "0123456789" | list -%}
  {%- set of_numbers = digits + "+-.,/: tz" | list -%}
  {%- set signs = "!#$%&()*;<=>?@[]^_`{|}~" | list + ['"', "''"] -%}
  select
    given,
    plain as folded,
    case
      when {% for c in of_numbers + letters + signs %}replace({% endfor %}plain
        {%- for c in of_numbers + letters + signs %}, '{{ c }}', ''){% endfor %} <> '' then 0
      when plain like '%  %' then 0
      when plain = '' or {% for c in of_numbers %}replace({% endfor %}plain
        {%- for c in of_numbers %}, '{{ c }}', ''){% endfor %} <> '' then 1
      when plain like '%+%' or plain like '%.%' or plain like '%,%' or plain like '%/%' or plain like '% %' then 0
      when plain like '____-__-__' then 1
      when plain like '_%-%' or plain like '%:%' or plain like '-0%' or plain like '0_%' then 0
      else 1
    end as comparable
  from (
    select given, trim(lower(given)) as plain from ({{ texts }}) as given_texts
  ) as plain_texts
{% endmacro %}
